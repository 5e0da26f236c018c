//! The coordinator's half of a source: finds splits and hands them out.

use crate::error::JobResult;

/// Finds the splits of a source and assigns them to readers. Runs on the coordinator; all calls come one after the other.
pub trait SplitEnumerator<S>: Send {
    /// Finds the splits of a fresh run. May block. Not called when a checkpoint is resumed.
    fn discover(&mut self) -> JobResult<()>;

    /// A reader asks for a split.
    fn request(&mut self, subtask: u32, context: &mut EnumeratorContext<S>) -> JobResult<()>;

    /// Splits that readers had, to be handed out again: after a failure, and when a checkpoint is resumed.
    fn add_splits_back(&mut self, splits: Vec<S>);

    /// A message of the source's own from a reader.
    fn source_event(&mut self, _subtask: u32, _event: &[u8], _context: &mut EnumeratorContext<S>) -> JobResult<()> {
        Ok(())
    }

    /// Known splits that no reader has. While there are any, the watermark is held: they may have old rows.
    fn unassigned(&self) -> usize;

    /// What a checkpoint keeps: the unassigned splits and whatever discovery needs.
    fn snapshot(&self) -> Vec<u8>;
}

/// What an enumerator can do.
#[derive(Debug)]
pub struct EnumeratorContext<S> {
    actions: Vec<EnumeratorAction<S>>,
}

/// Something an enumerator asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnumeratorAction<S> {
    /// This reader gets this split.
    Assign(u32, S),
    /// This reader gets no more splits: it ends when it has read those it has.
    NoMoreSplits(u32),
    /// A message of the source's own to a reader.
    Event(u32, Vec<u8>),
}

impl<S> EnumeratorContext<S> {
    pub(crate) fn new() -> Self {
        EnumeratorContext { actions: Vec::new() }
    }

    /// Gives a split to a reader.
    pub fn assign(&mut self, subtask: u32, split: S) {
        self.actions.push(EnumeratorAction::Assign(subtask, split));
    }

    /// Tells a reader that there are no more splits for it.
    pub fn no_more_splits(&mut self, subtask: u32) {
        self.actions.push(EnumeratorAction::NoMoreSplits(subtask));
    }

    /// Sends a message of the source's own to a reader.
    pub fn send_event(&mut self, subtask: u32, event: Vec<u8>) {
        self.actions.push(EnumeratorAction::Event(subtask, event));
    }

    pub(crate) fn into_actions(self) -> Vec<EnumeratorAction<S>> {
        self.actions
    }
}

/// Hands out a known list of splits, in order, one per request; then there are no more.
#[derive(Debug)]
pub struct StaticEnumerator<S> {
    splits: std::collections::VecDeque<S>,
}

impl<S: super::Split> StaticEnumerator<S> {
    /// These splits, in this order.
    pub fn new(splits: impl IntoIterator<Item = S>) -> Self {
        StaticEnumerator { splits: splits.into_iter().collect() }
    }

    /// What `snapshot` gave.
    pub fn restore(bytes: &[u8]) -> JobResult<Self> {
        let mut input = crate::bytes::Reader::new(bytes);
        let mut splits = std::collections::VecDeque::new();
        for _ in 0..input.u32()? {
            splits.push_back(S::decode(input.bytes()?)?);
        }
        Ok(StaticEnumerator { splits })
    }

    /// The next unassigned split.
    pub fn take(&mut self) -> Option<S> {
        self.splits.pop_front()
    }

    /// Puts splits before the unassigned ones: they were taken first.
    pub fn add_back(&mut self, splits: Vec<S>) {
        for split in splits.into_iter().rev() {
            self.splits.push_front(split);
        }
    }

    /// How many are unassigned.
    pub fn len(&self) -> usize {
        self.splits.len()
    }

    /// Whether all are assigned.
    pub fn is_empty(&self) -> bool {
        self.splits.is_empty()
    }
}

impl<S: super::Split> SplitEnumerator<S> for StaticEnumerator<S> {
    fn discover(&mut self) -> JobResult<()> {
        Ok(())
    }

    fn request(&mut self, subtask: u32, context: &mut EnumeratorContext<S>) -> JobResult<()> {
        match self.take() {
            Some(split) => context.assign(subtask, split),
            None => context.no_more_splits(subtask),
        }
        Ok(())
    }

    fn add_splits_back(&mut self, splits: Vec<S>) {
        self.add_back(splits);
    }

    fn unassigned(&self) -> usize {
        self.splits.len()
    }

    fn snapshot(&self) -> Vec<u8> {
        let mut out = Vec::new();
        crate::bytes::put_u32(&mut out, u32::try_from(self.splits.len()).unwrap_or(u32::MAX));
        for split in &self.splits {
            crate::bytes::put_bytes(&mut out, &split.encode());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Split;

    #[derive(Clone, Debug, PartialEq)]
    struct Part(u8);

    impl Split for Part {
        fn id(&self) -> String {
            self.0.to_string()
        }

        fn encode(&self) -> Vec<u8> {
            vec![self.0]
        }

        fn decode(bytes: &[u8]) -> JobResult<Self> {
            bytes.first().map(|&byte| Part(byte)).ok_or_else(|| crate::JobError::new("empty"))
        }
    }

    fn ask(enumerator: &mut StaticEnumerator<Part>, subtask: u32) -> Vec<EnumeratorAction<Part>> {
        let mut context = EnumeratorContext::new();
        enumerator.request(subtask, &mut context).unwrap();
        context.into_actions()
    }

    #[test]
    fn splits_go_out_one_by_one_and_come_back_first() {
        let mut enumerator = StaticEnumerator::new([Part(1), Part(2), Part(3)]);
        assert_eq!(ask(&mut enumerator, 0), [EnumeratorAction::Assign(0, Part(1))]);
        assert_eq!(ask(&mut enumerator, 1), [EnumeratorAction::Assign(1, Part(2))]);
        let stored = enumerator.snapshot();
        assert_eq!(ask(&mut enumerator, 0), [EnumeratorAction::Assign(0, Part(3))]);
        assert_eq!(ask(&mut enumerator, 0), [EnumeratorAction::NoMoreSplits(0)]);

        let mut resumed = StaticEnumerator::restore(&stored).unwrap();
        resumed.add_splits_back(vec![Part(1), Part(2)]);
        assert_eq!(resumed.unassigned(), 3, "while it has splits, the watermark is held");
        let order: Vec<_> = (0..3).flat_map(|_| ask(&mut resumed, 0)).collect();
        assert_eq!(order, [1, 2, 3].map(|part| EnumeratorAction::Assign(0, Part(part))));
    }
}
