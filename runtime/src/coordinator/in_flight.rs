//! Rows that were on their way to tasks when a checkpoint was taken: read back, for the same tasks.

use std::collections::{BTreeMap, HashMap};

use crate::checkpoint::{Manifest, Part, StateEntry};
use crate::error::{JobError, JobResult};
use crate::exchange::{Batch, BatchCodec};
use crate::job::ChainSpec;
use crate::task::TaskId;

/// The state in a checkpoint that holds what was on its way to an input: `#in_flight/0`.
pub(crate) const IN_FLIGHT: &str = "#in_flight/";

/// Encoded batches by task, with the number of the input and the schema of their rows.
#[derive(Debug, Default)]
pub(super) struct InFlight(HashMap<TaskId, Vec<(usize, String, Vec<u8>)>>);

impl InFlight {
    /// Takes them out of the entries that the coordinator keeps, with the index of the chain. An error if the job is another one, or
    /// if a chain has another parallelism: which task they belong to is known only of the old one.
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
            let old = manifest.chains.iter().find(|old| old.name == chains[chain].name).map_or(0, |old| old.subtasks.len());
            if manifest.fingerprint != fingerprint {
                return Err(refused("the pipeline has changed since then"));
            }
            if old != parallelism[chain] as usize {
                return Err(refused(&format!("that had {old} copies, not {}", parallelism[chain])));
            }
            let (Some(input), Part::Item(bytes)) = (entry.state[IN_FLIGHT.len()..].parse().ok(), entry.part) else {
                return Err(JobError::new(format!("`{}` of checkpoint {} cannot be read", entry.state, manifest.checkpoint)));
            };
            found.0.entry(TaskId { chain, subtask: entry.subtask }).or_default().push((input, entry.schema, bytes));
        }
        Ok(found)
    }

    /// What was on its way to a task, in order.
    pub(super) fn batches(
        &mut self,
        task: TaskId,
        chain: &ChainSpec,
        codecs: &BTreeMap<usize, BatchCodec>,
    ) -> JobResult<Vec<(usize, Batch)>> {
        let stored = self.0.remove(&task).unwrap_or_default().into_iter();
        let decoded = stored.map(|(input, schema, bytes)| {
            let codec = chain.inputs.get(input).and_then(|input| codecs.get(&input.edge));
            let codec = codec.filter(|codec| codec.schema() == schema).ok_or_else(|| {
                JobError::new(format!(
                    "rows that were on their way to `{}` are other rows than it takes now ({schema})",
                    chain.name
                ))
            })?;
            Ok((input, codec.decode(&bytes)?))
        });
        decoded.collect()
    }
}
