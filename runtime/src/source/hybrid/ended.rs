//! What is left of a stage that has ended: it hears of checkpoints until one is complete that was taken after its end, so that
//! a source which hands back what it has read (an offset, an acknowledgement) does so to the last row.

/// A reader or an enumerator of a stage that has ended.
#[derive(Debug)]
pub(super) struct Ended<P> {
    pub(super) part: P,
    heard: u8,
}

impl<P> Ended<P> {
    pub(super) fn new(part: P) -> Self {
        Ended { part, heard: 0 }
    }

    /// Counts a completed checkpoint. The first may have begun before the end; one is taken at a time, so the second has not.
    pub(super) fn is_done(&mut self) -> bool {
        self.heard += 1;
        self.heard >= 2
    }
}
