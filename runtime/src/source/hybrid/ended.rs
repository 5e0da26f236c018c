//! What is left of a stage that has ended: it hears of checkpoints until one is complete that was taken after its end, so that
//! a source which hands back what it has read (an offset, an acknowledgement) does so to the last row.

/// A reader or an enumerator of a stage that has ended.
#[derive(Debug)]
pub(super) struct Ended<P> {
    pub(super) part: P,
    /// The first checkpoint that was taken after the end, of a part that is told so.
    taken: Option<u64>,
    heard: u8,
}

impl<P> Ended<P> {
    pub(super) fn new(part: P) -> Self {
        Ended { part, taken: None, heard: 0 }
    }

    /// What it has given is part of this checkpoint, as of those that follow.
    pub(super) fn taken(&mut self, checkpoint: u64) {
        self.taken.get_or_insert(checkpoint);
    }

    /// Whether it has heard of enough, with this completed checkpoint. Where nobody says when one is taken, the first may have begun before
    /// the end and the second not, as one is taken at a time.
    pub(super) fn is_done(&mut self, complete: u64) -> bool {
        self.heard += 1;
        self.taken.map_or(self.heard >= 2, |taken| complete >= taken)
    }
}
