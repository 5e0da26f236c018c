//! Tables whose readers find rows by the key are sent without the old rows of updates.

use millstream_runtime::graph::{Changelog, Emit, JobGraph, Operation, StreamType, VertexId};

use super::Pass;
use crate::plan::analysis::failure::Failure;

/// An operator that makes a table says of an update the new row only (upserts), where all that reads the table keeps rows
/// by its key: `final`, behind projections that cannot fail and leave the key as it is. Everything else needs the old rows,
/// to take them back (retractions).
pub struct DropOldRows;

impl Pass for DropOldRows {
    const NAME: &'static str = "drop_old_rows";

    fn run(&self, graph: &mut JobGraph) -> bool {
        let failure = Failure::new(graph);
        let mut changed = false;
        for id in graph.topological() {
            if !has_key(&graph.vertex(id).output) || !finds_by_key(graph, &failure, id) {
                continue;
            }
            let emit = match &mut graph.vertex_mut(id).operation {
                Operation::Aggregate(aggregate) => &mut aggregate.emit,
                Operation::Dedup(dedup) => &mut dedup.emit,
                Operation::Top(top) => &mut top.emit,
                _ => continue,
            };
            if *emit == Emit::Changes {
                *emit = Emit::Upserts;
                changed = true;
            }
        }
        changed
    }
}

fn has_key(rows: &StreamType) -> bool {
    matches!(rows.changelog, Changelog::Table { key: Some(_) })
}

/// Whether all consumers do without the old rows.
fn finds_by_key(graph: &JobGraph, failure: &Failure, id: VertexId) -> bool {
    let consumers = graph.outputs(id);
    !consumers.is_empty()
        && consumers.iter().all(|(consumer, _)| match &graph.vertex(*consumer).operation {
            Operation::Final => true,
            // A new row that has no value must take the old one away all the same.
            Operation::Project(columns) => {
                !columns.iter().any(|(_, value)| failure.can_fail(value))
                    && has_key(&graph.vertex(*consumer).output)
                    && finds_by_key(graph, failure, *consumer)
            }
            _ => false,
        })
}
