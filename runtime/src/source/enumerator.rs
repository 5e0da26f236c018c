//! The coordinator's half of a source: finds splits and hands them out.

use std::time::Duration;

use crate::error::JobResult;

/// Finds the splits of a source and assigns them to readers.
///
/// Runs on the coordinator; all calls come one after the other, and none of them may block for long: what may, such as listing a
/// folder, is done by [`EnumeratorContext::call`] on a thread of its own, and its result comes to [`found`](Self::found).
///
/// The order of calls: after a restore [`event_before`](Self::event_before) with messages that were on their way, and
/// [`add_splits_back`](Self::add_splits_back) with the splits that readers had; then
/// [`start`](Self::start); then [`reader_added`](Self::reader_added) for every reader; then the rest in any order.
pub trait SplitEnumerator<S>: Send {
    /// What work away from the coordinator brings back; `()` where there is none.
    type Found: Send + 'static;

    /// The job starts, anew or from a checkpoint. The place to begin looking for splits.
    fn start(&mut self, context: &mut EnumeratorContext<S, Self::Found>) -> JobResult<()>;

    /// The result of a [`call`](EnumeratorContext::call). An error that is given back fails the job.
    fn found(&mut self, _found: JobResult<Self::Found>, _context: &mut EnumeratorContext<S, Self::Found>) -> JobResult<()> {
        Ok(())
    }

    /// A reader is there. Called again for a reader that was reset: it knows nothing any more, and what it had comes back by
    /// `add_splits_back`.
    fn reader_added(&mut self, _subtask: u32, _context: &mut EnumeratorContext<S, Self::Found>) -> JobResult<()> {
        Ok(())
    }

    /// A reader asks for a split. It asks once and then waits, for ever if need be: for an assignment, or for the news
    /// that there are no more.
    fn request(&mut self, subtask: u32, context: &mut EnumeratorContext<S, Self::Found>) -> JobResult<()>;

    /// Splits that readers had, to be handed out again: when a checkpoint is resumed with the positions stored in it, after a
    /// failure of single readers as they were assigned.
    fn add_splits_back(&mut self, splits: Vec<S>, context: &mut EnumeratorContext<S, Self::Found>) -> JobResult<()>;

    /// A message of the source's own from a reader.
    fn source_event(&mut self, _subtask: u32, _event: &[u8], _context: &mut EnumeratorContext<S, Self::Found>) -> JobResult<()> {
        Ok(())
    }

    /// After a restore: a message that a reader had sent before its part of the checkpoint, and that was not yet in what
    /// [`snapshot`](Self::snapshot) gave. The reader is gone, and there may be fewer than `subtask` now: what is said to readers here
    /// is not passed on, and splits that they are given come back by `add_splits_back`. So no message is lost, and none counts twice.
    fn event_before(&mut self, subtask: u32, event: &[u8], context: &mut EnumeratorContext<S, Self::Found>) -> JobResult<()> {
        self.source_event(subtask, event, context)
    }

    /// Known splits that no reader has.
    fn unassigned(&self) -> usize;

    /// Whether rows that no reader has seen may be older than those that were read: the watermark waits. So it is while
    /// splits are unassigned, and before the first look for splits.
    fn holds_watermark(&self) -> bool {
        self.unassigned() > 0
    }

    /// What a checkpoint keeps: the unassigned splits and whatever discovery needs. A split that is assigned is no longer the
    /// enumerator's: it is in the snapshot of its reader.
    fn snapshot(&self) -> Vec<u8>;

    /// This checkpoint, and with it all before it, is complete. An error is one of the source: what hangs together with it goes back to this
    /// checkpoint, and the others, which hear of it all the same, go on.
    fn checkpoint_complete(&mut self, _checkpoint: u64) -> JobResult<()> {
        Ok(())
    }

    /// This checkpoint is given up. What belongs to it belongs to the next one: nothing need be done, but for what is held for it.
    fn checkpoint_aborted(&mut self, _checkpoint: u64) -> JobResult<()> {
        Ok(())
    }
}

/// What an enumerator can do. `F` is what its calls bring back.
#[derive(Debug)]
pub struct EnumeratorContext<S, F = ()> {
    actions: Vec<EnumeratorAction<S>>,
    calls: Vec<Call<F>>,
}

/// Something an enumerator asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnumeratorAction<S> {
    /// This reader gets this split.
    Assign(u32, S),
    /// This reader gets no more splits: it ends when it has read those it has. The coordinator answers its later requests itself.
    NoMoreSplits(u32),
    /// The same for the reader, but it may be given more after all: what a source of several stages says at the end of each
    /// but the last.
    NoMoreSplitsForNow(u32),
    /// A message of the source's own to a reader.
    Event(u32, Vec<u8>),
}

/// Work to be done away from the coordinator.
pub struct Call<F> {
    /// How long to wait before.
    pub after: Duration,
    /// The work. May block.
    pub work: Box<dyn FnOnce() -> JobResult<F> + Send>,
}

impl<F> std::fmt::Debug for Call<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("after", &self.after).finish_non_exhaustive()
    }
}

impl<S, F> Default for EnumeratorContext<S, F> {
    fn default() -> Self {
        EnumeratorContext { actions: Vec::new(), calls: Vec::new() }
    }
}

impl<S, F> EnumeratorContext<S, F> {
    /// A context in which nothing was asked for yet.
    pub fn new() -> Self {
        EnumeratorContext::default()
    }

    /// Gives a split to a reader. An error of the job if it was told before that there are no more.
    pub fn assign(&mut self, subtask: u32, split: S) {
        self.actions.push(EnumeratorAction::Assign(subtask, split));
    }

    /// Tells a reader that there are no more splits for it, once and for all.
    pub fn no_more_splits(&mut self, subtask: u32) {
        self.actions.push(EnumeratorAction::NoMoreSplits(subtask));
    }

    /// Tells a reader that there are no more splits of this stage: others may follow.
    pub fn no_more_splits_for_now(&mut self, subtask: u32) {
        self.actions.push(EnumeratorAction::NoMoreSplitsForNow(subtask));
    }

    /// Sends a message of the source's own to a reader. It is no part of a checkpoint: what must survive a failure is said
    /// again when a reader is added.
    pub fn send_event(&mut self, subtask: u32, event: Vec<u8>) {
        self.actions.push(EnumeratorAction::Event(subtask, event));
    }

    /// Has work done on a thread of its own, after some time. Its result comes to [`SplitEnumerator::found`], which may ask for the
    /// next: so are splits found periodically.
    pub fn call(&mut self, after: Duration, work: impl FnOnce() -> JobResult<F> + Send + 'static) {
        self.calls.push(Call { after, work: Box::new(work) });
    }

    /// What was asked for.
    pub fn into_parts(self) -> (Vec<EnumeratorAction<S>>, Vec<Call<F>>) {
        (self.actions, self.calls)
    }
}
