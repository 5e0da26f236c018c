//! Rows that were on their way to tasks when a checkpoint was taken: read back, for the same tasks, or for those that own them now.
//!
//! Rows of one key come in the order in which they were sent, before all that is sent later.

use std::collections::BTreeMap;

use crate::chain::Routers;
use crate::checkpoint::{Manifest, Part, StateEntry};
use crate::error::{JobError, JobResult};
use crate::exchange::{Batch, BatchCodec};
use crate::job::{ChainSpec, ExchangeKind};
use crate::task::TaskId;

/// The state in a checkpoint that holds what was on its way to an input: `#in_flight/0`.
pub(crate) const IN_FLIGHT: &str = "#in_flight/";

/// Encoded batches by task of the checkpoint, with the number of the input and the schema of their rows.
#[derive(Debug, Default)]
pub(super) struct InFlight(BTreeMap<TaskId, Vec<(usize, String, Vec<u8>)>>);

/// Batches with the numbers of their inputs, by subtask.
pub(super) type Batches = Vec<Vec<(usize, Batch)>>;

impl InFlight {
    /// Takes them out of the entries that the coordinator keeps, with the index of the chain. An error if the job is another one, or
    /// if a chain has another parallelism and rows that do not come by key, nor to anyone in turn: which task they belong to is known
    /// only of the old one.
    pub(super) fn take(
        own: &mut Vec<(usize, StateEntry)>,
        manifest: &Manifest,
        fingerprint: u64,
        chains: &[ChainSpec],
        parallelism: &[u32],
    ) -> JobResult<Self> {
        let mut found = InFlight::default();
        for (chain, entry) in own.extract_if(.., |(_, entry)| entry.state.starts_with(IN_FLIGHT)) {
            let refused = |what: &str| {
                JobError::new(format!(
                    "checkpoint {} holds rows that were on their way to `{}` (its barriers have overtaken them), and {what}\n  go on as \
                     before, stop the job with a checkpoint (those overtake nothing), and make the change then",
                    manifest.checkpoint, chains[chain].name
                ))
            };
            let old = manifest.subtasks_of(chains[chain].name);
            if manifest.fingerprint != fingerprint {
                return Err(refused("the pipeline has changed since then"));
            }
            let (Ok(input), Part::Item(bytes)) = (entry.state[IN_FLIGHT.len()..].parse(), entry.part) else {
                return Err(JobError::new(format!("`{}` of checkpoint {} cannot be read", entry.state, manifest.checkpoint)));
            };
            if chains[chain].inputs.iter().any(|input| input.exchange == ExchangeKind::Broadcast) {
                return Err(JobError::new(format!(
                    "checkpoint {} holds rows that were on their way to `{}`, of which others of its copies may have had the same, so that \
                     their state is not that of one moment\n  go on from another checkpoint, with --from",
                    manifest.checkpoint, chains[chain].name
                )));
            }
            let exchange = chains[chain].inputs.get::<usize>(input).map(|input| input.exchange);
            let may_move = matches!(exchange, Some(ExchangeKind::Hash | ExchangeKind::Rebalance));
            if old != parallelism[chain] as usize && !may_move {
                return Err(refused(&format!("that had {old} copies, not {}", parallelism[chain])));
            }
            found.0.entry(TaskId { chain, subtask: entry.subtask }).or_default().push((input, entry.schema, bytes));
        }
        Ok(found)
    }

    /// What was on its way to the tasks of a chain that had `old` subtasks, by subtask of now, in order.
    pub(super) fn deal(
        &mut self,
        index: usize,
        chain: &ChainSpec,
        old: usize,
        parallelism: u32,
        codecs: &BTreeMap<usize, BatchCodec>,
        routers: &Routers,
    ) -> JobResult<Batches> {
        let mut dealt: Batches = (0..parallelism).map(|_| Vec::new()).collect();
        let mut turn = 0;
        for (task, stored) in self.0.extract_if(.., |task, _| task.chain == index) {
            for (input, schema, bytes) in stored {
                let edge = chain.inputs.get(input).map(|input| input.edge);
                let codec = edge.and_then(|edge| codecs.get(&edge)).filter(|codec| codec.schema() == schema);
                let batch = codec.ok_or_else(|| {
                    JobError::new(format!(
                        "rows that were on their way to `{}` are other rows than it takes now ({schema})",
                        chain.name
                    ))
                })?;
                let batch = batch.decode(&bytes)?;
                if old == parallelism as usize {
                    dealt[task.subtask as usize].push((input, batch));
                } else if let Some(router) = edge.and_then(|edge| routers.get(edge)) {
                    for (subtask, batch) in router(batch, parallelism)? {
                        dealt[subtask].push((input, batch));
                    }
                } else {
                    dealt[turn].push((input, batch));
                    turn = (turn + 1) % dealt.len();
                }
            }
        }
        Ok(dealt)
    }
}
