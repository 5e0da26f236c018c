//! Which operators run in one task: a pure decision about one edge.
//!
//! [`ExecutionGraph::expand`](super::ExecutionGraph::expand) asks it for every edge and joins what it accepts. The rules are
//! those of Apache Flink: rows must stay on their subtask, the consumer must have this one input, and both ends must agree
//! on parallelism and slot group. A producer may chain with several consumers at once.

use std::fmt;

use super::job::{Exchange, JobEdge};

/// Why an edge does not chain; shown by `millstream explain`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChainBreak {
    /// Rows are redistributed (by key, round-robin, to all).
    Redistributes,
    /// The consumer has several inputs.
    ManyInputs,
    ParallelismDiffers,
    SlotGroupDiffers,
    /// `@no_chain`
    Disabled,
}

/// What the decision depends on, of one end of an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End<'a> {
    /// `@parallelism`; None: the job's, which may be chosen only when the job starts. So `None` and `Some(2)` differ even
    /// if the job says 2.
    pub parallelism: Option<u32>,
    pub slot_group: &'a str,
    /// `@no_chain`
    pub no_chain: bool,
}

/// Whether the two ends of an edge run in one task, calling each other directly.
pub fn decide(producer: &End<'_>, edge: &JobEdge, consumer: &End<'_>, consumer_inputs: usize) -> Result<(), ChainBreak> {
    if edge.exchange != Exchange::Forward {
        return Err(ChainBreak::Redistributes);
    }
    if consumer_inputs != 1 {
        return Err(ChainBreak::ManyInputs);
    }
    if producer.slot_group != consumer.slot_group {
        return Err(ChainBreak::SlotGroupDiffers);
    }
    if producer.parallelism != consumer.parallelism {
        return Err(ChainBreak::ParallelismDiffers);
    }
    if producer.no_chain || consumer.no_chain {
        return Err(ChainBreak::Disabled);
    }
    Ok(())
}

impl fmt::Display for ChainBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ChainBreak::Redistributes => "rows are redistributed",
            ChainBreak::ManyInputs => "the consumer has several inputs",
            ChainBreak::ParallelismDiffers => "the parallelism differs",
            ChainBreak::SlotGroupDiffers => "the slot group differs",
            ChainBreak::Disabled => "@no_chain",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::job::Port;

    const PLAIN: End<'static> = End { parallelism: None, slot_group: "default", no_chain: false };

    fn edge(exchange: Exchange) -> JobEdge {
        JobEdge { exchange, port: Port::Main, input: 0 }
    }

    #[test]
    fn a_forward_edge_between_equals_chains() {
        assert_eq!(decide(&PLAIN, &edge(Exchange::Forward), &PLAIN, 1), Ok(()));
    }

    #[test]
    fn every_rule_breaks_by_itself() {
        let forward = edge(Exchange::Forward);
        for exchange in [Exchange::Hash(vec![]), Exchange::Rebalance, Exchange::Broadcast] {
            assert_eq!(decide(&PLAIN, &edge(exchange), &PLAIN, 1), Err(ChainBreak::Redistributes));
        }
        assert_eq!(decide(&PLAIN, &forward, &PLAIN, 2), Err(ChainBreak::ManyInputs));
        let io = End { slot_group: "io", ..PLAIN };
        assert_eq!(decide(&PLAIN, &forward, &io, 1), Err(ChainBreak::SlotGroupDiffers));
        let two = End { parallelism: Some(2), ..PLAIN };
        assert_eq!(decide(&PLAIN, &forward, &two, 1), Err(ChainBreak::ParallelismDiffers));
        let alone = End { no_chain: true, ..PLAIN };
        assert_eq!(decide(&PLAIN, &forward, &alone, 1), Err(ChainBreak::Disabled));
        assert_eq!(decide(&alone, &forward, &PLAIN, 1), Err(ChainBreak::Disabled));
    }
}
