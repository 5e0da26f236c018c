//! An enumerator for splits that are all known from the start.

use std::collections::{BTreeSet, VecDeque};

use super::{EnumeratorContext, Split, SplitEnumerator};
use crate::error::JobResult;

/// Hands out a known list of splits, in order, one per request; then there are no more.
///
/// A reader asks for the next split when it is through with one. Where splits never end, nobody would: see [`dealt`](Self::dealt).
#[derive(Debug)]
pub struct StaticEnumerator<S> {
    splits: VecDeque<S>,
    deal: Option<Deal>,
}

/// Who gets the next split that is dealt out.
#[derive(Debug)]
struct Deal {
    readers: u32,
    /// Those that are there, and have not been told that there is nothing more.
    there: BTreeSet<u32>,
    seen: BTreeSet<u32>,
    turn: u32,
}

impl<S: Split> StaticEnumerator<S> {
    /// These splits, in this order.
    pub fn new(splits: impl IntoIterator<Item = S>) -> Self {
        StaticEnumerator { splits: splits.into_iter().collect(), deal: None }
    }

    /// The same, for splits that never end: they are dealt out in turn to so many readers, as soon as all of these are there.
    #[must_use]
    pub fn dealt(self, readers: u32) -> Self {
        let deal = Deal { readers, there: BTreeSet::new(), seen: BTreeSet::new(), turn: 0 };
        StaticEnumerator { deal: Some(deal), ..self }
    }

    /// What `snapshot` gave.
    pub fn restore(bytes: &[u8]) -> JobResult<Self> {
        let mut input = crate::bytes::Reader::new(bytes);
        let mut splits = VecDeque::new();
        for _ in 0..input.u32()? {
            splits.push_back(S::decode(input.bytes()?)?);
        }
        Ok(StaticEnumerator { splits, deal: None })
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

    /// Deals out what there is, once all readers are there.
    fn deal(&mut self, context: &mut EnumeratorContext<S>) {
        let Some(deal) = &mut self.deal else { return };
        if u32::try_from(deal.seen.len()).unwrap_or(u32::MAX) < deal.readers {
            return;
        }
        while let Some(&reader) = deal.there.range(deal.turn..).next().or_else(|| deal.there.first()) {
            let Some(split) = self.splits.pop_front() else { return };
            context.assign(reader, split);
            deal.turn = reader + 1;
        }
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

    fn reader_added(&mut self, subtask: u32, context: &mut EnumeratorContext<S>) -> JobResult<()> {
        if let Some(deal) = &mut self.deal {
            deal.there.insert(subtask);
            deal.seen.insert(subtask);
        }
        self.deal(context);
        Ok(())
    }

    fn request(&mut self, subtask: u32, context: &mut EnumeratorContext<S>) -> JobResult<()> {
        if let Some(deal) = &mut self.deal {
            deal.there.remove(&subtask);
        }
        match self.take() {
            Some(split) => context.assign(subtask, split),
            None => context.no_more_splits(subtask),
        }
        Ok(())
    }

    fn add_splits_back(&mut self, splits: Vec<S>, context: &mut EnumeratorContext<S>) -> JobResult<()> {
        self.add_back(splits);
        self.deal(context);
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

    /// A reader whose split never ends does not ask for another.
    #[test]
    fn splits_that_never_end_are_dealt_out_when_all_readers_are_there() {
        let mut enumerator = StaticEnumerator::new([Part(1), Part(2), Part(3)]).dealt(2);
        let mut context = EnumeratorContext::new();
        enumerator.reader_added(1, &mut context).unwrap();
        assert_eq!(enumerator.unassigned(), 3);
        enumerator.reader_added(0, &mut context).unwrap();
        let dealt = [(0, 1), (1, 2), (0, 3)].map(|(reader, part)| EnumeratorAction::Assign(reader, Part(part)));
        assert_eq!(context.into_parts().0, dealt);
        assert_eq!(ask(&mut enumerator, 1), [EnumeratorAction::NoMoreSplits(1)]);

        // The first reader is reset: what it had is its own again, for the other one has ended.
        let mut context = EnumeratorContext::new();
        enumerator.add_splits_back(vec![Part(1), Part(3)], &mut context).unwrap();
        enumerator.reader_added(0, &mut context).unwrap();
        let again = [1, 3].map(|part| EnumeratorAction::Assign(0, Part(part)));
        assert_eq!(context.into_parts().0, again);
    }
}
