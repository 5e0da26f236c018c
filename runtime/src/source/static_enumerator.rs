//! An enumerator for splits that are all known from the start.

use std::collections::VecDeque;

use super::{EnumeratorContext, Split, SplitEnumerator};
use crate::error::JobResult;

/// Hands out a known list of splits, in order, one per request; then there are no more.
#[derive(Debug)]
pub struct StaticEnumerator<S> {
    splits: VecDeque<S>,
}

impl<S: Split> StaticEnumerator<S> {
    /// These splits, in this order.
    pub fn new(splits: impl IntoIterator<Item = S>) -> Self {
        StaticEnumerator { splits: splits.into_iter().collect() }
    }

    /// What `snapshot` gave.
    pub fn restore(bytes: &[u8]) -> JobResult<Self> {
        let mut input = crate::bytes::Reader::new(bytes);
        let mut splits = VecDeque::new();
        for _ in 0..input.u32()? {
            splits.push_back(S::decode(input.bytes()?)?);
        }
        Ok(StaticEnumerator { splits })
    }

    /// The next unassigned split.
    pub fn take(&mut self) -> Option<S> {
        self.splits.pop_front()
    }

    /// Puts splits behind the unassigned ones.
    pub fn add(&mut self, splits: impl IntoIterator<Item = S>) {
        self.splits.extend(splits);
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

impl<S: Split> SplitEnumerator<S> for StaticEnumerator<S> {
    type Found = ();

    fn start(&mut self, _context: &mut EnumeratorContext<S>) -> JobResult<()> {
        Ok(())
    }

    fn request(&mut self, subtask: u32, context: &mut EnumeratorContext<S>) -> JobResult<()> {
        match self.take() {
            Some(split) => context.assign(subtask, split),
            None => context.no_more_splits(subtask),
        }
        Ok(())
    }

    fn add_splits_back(&mut self, splits: Vec<S>, _context: &mut EnumeratorContext<S>) -> JobResult<()> {
        self.add_back(splits);
        Ok(())
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
    use crate::source::EnumeratorAction;

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
        context.into_parts().0
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
        resumed.add_splits_back(vec![Part(1), Part(2)], &mut EnumeratorContext::new()).unwrap();
        assert_eq!(resumed.unassigned(), 3, "while it has splits, the watermark is held");
        let order: Vec<_> = (0..3).flat_map(|_| ask(&mut resumed, 0)).collect();
        assert_eq!(order, [1, 2, 3].map(|part| EnumeratorAction::Assign(0, Part(part))));
    }
}
