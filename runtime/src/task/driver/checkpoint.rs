//! A task's part of a checkpoint: when it is taken, how it is encoded, and what is said of it.

use std::time::Duration;

use super::{Progress, Task, TaskFailure};
use crate::checkpoint::StateEntry;
use crate::coordinator::{Contents, IN_FLIGHT, contents_of, take_staged};
use crate::exchange::Element;
use crate::operator::SnapshotBuilder;
use crate::seam::{self, Instant, Point};
use crate::task::{Ack, Decline, TaskReport};

impl Task {
    /// Barriers that are to overtake rows come at once, unless those before are busy: for a moment nothing else is begun, since a
    /// batch can take long.
    pub(super) async fn overtaken_soon(&mut self, progress: &mut Progress) -> Option<u64> {
        let gate = self.gate.as_mut().filter(|gate| gate.is_overtaking() && !progress.patience.is_zero())?;
        let started = Instant::now();
        let overtaken = tokio::time::timeout(progress.patience, std::future::poll_fn(|cx| gate.poll_overtaken(cx))).await;
        progress.patience = progress.patience.saturating_sub(started.elapsed());
        if overtaken.is_err() {
            progress.patience = Duration::ZERO;
        }
        overtaken.ok()
    }

    /// Sends the barrier on, and hands over what the operators hold, to be encoded beside the rows.
    pub(super) async fn take_checkpoint(&mut self, checkpoint: u64, progress: &mut Progress) -> Result<(), TaskFailure> {
        if checkpoint <= progress.taken {
            return Ok(());
        }
        progress.taken = checkpoint;
        progress.flush_at = None;
        // The checkpoint holds only if everything before it has arrived.
        self.settle().await?;
        if !progress.ended {
            self.outbox.put_all(|| Element::Barrier(checkpoint));
        }
        seam::reach(Point::Barrier).await?;
        let mut snapshot = SnapshotBuilder::of(checkpoint, self.asked.form(checkpoint, progress.since));
        progress.since = checkpoint;
        let chain = &mut self.chain;
        seam::in_place(|| chain.snapshot(&mut snapshot))?;
        seam::reach(Point::Snapshot).await?;
        if let Some(gate) = &self.gate {
            let batches = seam::in_place(|| gate.in_flight(checkpoint))?;
            if !batches.is_empty() {
                let own = snapshot.operator(&self.uid);
                for (input, schema, bytes) in batches {
                    own.list(&format!("{IN_FLIGHT}{input}"), schema, vec![bytes]);
                }
            }
        }
        // What was sent before the last checkpoint is counted when the job has ended.
        self.publish(progress);
        let (id, attempt, reports) = (self.id, self.attempt, self.reports.clone());
        let (finished, watermark) = (progress.ended, progress.watermark);
        let previous = std::mem::replace(&mut progress.part, checkpoint);
        let before = progress.encoding.take();
        progress.encoding = Some(tokio::spawn(async move {
            // Parts leave in the order of their checkpoints: what sinks have staged for one that was given up belongs to the next.
            if let Some(before) = before {
                let _ = before.await;
            }
            let encoded = encode(snapshot, id.subtask).await;
            // Messages inside of a process may be late; they are never lost.
            let _ = seam::reach(Point::Acknowledge).await;
            let report = match encoded {
                Ok(contents) => TaskReport::Ack(Ack { checkpoint, previous, finished, watermark, contents }),
                Err((reason, staged)) => TaskReport::Decline(Decline { checkpoint, previous, reason, staged }),
            };
            let _ = reports.send((id, attempt, report));
        }));
        Ok(())
    }
}

/// Encodes what was taken, on another thread, but for pieces of key groups. If that fails or panics: why, and what sinks have staged, which needs no encoding.
async fn encode(snapshot: SnapshotBuilder, subtask: u32) -> Result<Contents, (String, Vec<StateEntry>)> {
    let mut operators = snapshot.into_operators();
    let staged = take_staged(&mut operators, subtask);
    if let Err(error) = seam::reach(Point::Encode).await {
        return Err((error.to_string(), staged));
    }
    match seam::blocking(move || contents_of(operators, subtask)).await {
        Ok(Ok(mut contents)) => {
            contents.entries.extend(staged);
            Ok(contents)
        }
        Ok(Err(error)) => Err((error.to_string(), staged)),
        Err(reason) => Err((format!("encoding its state panicked: {reason}"), staged)),
    }
}
