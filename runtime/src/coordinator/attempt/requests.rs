//! Those who asked for a checkpoint: they are answered when it is stored and its output is committed, or told why there is none.

use tokio::sync::watch;

use super::Attempt;
use crate::coordinator::checkpointing::Purpose;
use crate::coordinator::control::{CheckpointInfo, CheckpointRequest, StopMode};
use crate::coordinator::savepoint::Savepoints;
use crate::error::JobError;
use crate::task::TaskMessage;

impl Attempt<'_> {
    /// A checkpoint is stored, with or without the savepoints that were asked for. A stop that cannot have its savepoint is taken back,
    /// unless somebody has asked for more than that in the meantime. Gives what happens after the checkpoint.
    pub(super) fn saved(
        &mut self,
        purpose: Purpose,
        info: CheckpointInfo,
        requests: Vec<CheckpointRequest>,
        savepoints: Savepoints,
        stopper: &watch::Sender<StopMode>,
    ) -> Purpose {
        let mut savepoints = savepoints.into_iter();
        let (mut failed, mut goes_on) = (Vec::new(), false);
        for CheckpointRequest { savepoint, at_end, reply } in requests {
            match savepoint.and_then(|_| savepoints.next()) {
                None => self.answers.push((info.clone(), reply)),
                Some(Ok(folder)) => self.answers.push((CheckpointInfo { savepoint: Some(folder), ..info.clone() }, reply)),
                Some(Err(error)) => {
                    goes_on |= at_end && purpose == Purpose::Stop;
                    failed.push((error, reply));
                }
            }
        }
        goes_on = goes_on
            && stopper.send_if_modified(|mode| {
                let only_this = *mode == StopMode::Savepoint;
                if only_this {
                    *mode = StopMode::None;
                }
                only_this
            });
        if goes_on {
            self.sources.tell_all(&self.mailboxes, &TaskMessage::Resume);
        }
        // Behind the end of the stop: who hears of the failure finds that the job goes on.
        for (error, reply) in failed {
            // Whoever asked may have gone.
            let _ = reply.send(Err(error));
        }
        if goes_on { Purpose::Periodic } else { purpose }
    }

    /// Those who want a savepoint, or the last checkpoint of the job, which this attempt has not come to: the next one serves them. A
    /// savepoint that was to be answered for holds output that is still to be committed: who asked is told where it is.
    pub(super) fn unserved(&mut self) -> Vec<CheckpointRequest> {
        let pending = self.pending.iter_mut().flat_map(|pending| pending.requests.drain(..));
        let writing = self.writing.iter_mut().flat_map(|writing| writing.requests.drain(..));
        for (info, reply) in self.answers.drain(..) {
            let Some(savepoint) = info.savepoint else { continue };
            // Whoever asked may have gone.
            let _ = reply.send(Err(JobError::transient(format!(
                "the savepoint `{}` is written, but the job failed before the output that belongs to it was committed; the job commits it \
                 when it goes on",
                savepoint.display()
            ))));
        }
        let is_wanted = |request: &CheckpointRequest| request.at_end || request.savepoint.is_some();
        self.again.drain(..).chain(pending).chain(writing).filter(is_wanted).collect()
    }

    /// A checkpoint was given up. Who wants the last one of a job is served by the next try.
    pub(super) fn not_saved(&mut self, requests: Vec<CheckpointRequest>, reason: &str) {
        for request in requests {
            if request.at_end {
                self.again.push(request);
            } else {
                // Whoever asked may have gone.
                let _ = request.reply.send(Err(JobError::transient(reason)));
            }
        }
    }
}
