//! In which form tasks are to hand over keyed state: the coordinator says so before a checkpoint begins, tasks look when it reaches them.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::operator::Form;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// The newest checkpoints that have everything, and whether that is in pieces, for others to build upon.
    everything: Mutex<VecDeque<(u64, bool)>>,
}

/// More checkpoints than may be on their way at once.
const REMEMBERED: usize = 64;

impl Asked {
    /// This checkpoint has everything.
    pub fn everything(&self, checkpoint: u64, in_pieces: bool) {
        let mut everything = self.everything.lock().unwrap_or_else(PoisonError::into_inner);
        everything.push_front((checkpoint, in_pieces));
        everything.truncate(REMEMBERED);
    }

    /// What a task is to hand over for this checkpoint that knows what has changed since another.
    pub fn form(&self, checkpoint: u64, since: u64) -> Form {
        let everything = self.everything.lock().unwrap_or_else(PoisonError::into_inner);
        match everything.iter().find(|(of, _)| *of == checkpoint) {
            Some((_, false)) => Form::Whole,
            Some((_, true)) => Form::Pieces { checkpoint, since: 0 },
            None => Form::Pieces { checkpoint, since },
        }
    }
}
