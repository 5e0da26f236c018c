//! In which form tasks are to hand over keyed state: the coordinator says so before a checkpoint begins, tasks look when it reaches them.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crate::operator::Form;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// The newest checkpoint that has everything, with no pieces.
    whole: AtomicU64,
    /// The newest one that has everything in pieces, for others to build upon.
    anew: AtomicU64,
}

impl Asked {
    /// This checkpoint has everything.
    pub fn everything(&self, checkpoint: u64, in_pieces: bool) {
        if in_pieces { &self.anew } else { &self.whole }.store(checkpoint, SeqCst);
    }

    /// What a task is to hand over for this checkpoint that knows what has changed since another.
    pub fn form(&self, checkpoint: u64, since: u64) -> Form {
        if self.whole.load(SeqCst) == checkpoint {
            return Form::Whole;
        }
        let since = if self.anew.load(SeqCst) == checkpoint { 0 } else { since };
        Form::Pieces { checkpoint, since }
    }
}
