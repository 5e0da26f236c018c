//! The splits of the generator: every so-manyth number.

use crate::bytes::{Reader, put_u64};
use crate::error::{JobError, JobResult};
use crate::source::{EnumeratorContext, Split, SplitEnumerator, StaticEnumerator};

/// The numbers `first`, `first + step`, .. below `end`, and the next one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberSplit {
    pub(super) first: u64,
    pub(super) step: u64,
    /// `u64::MAX`: they never end.
    pub(super) end: u64,
    pub(super) next: u64,
}

impl NumberSplit {
    /// All numbers below `end`, dealt out in turn, so that all splits move on together.
    pub(super) fn deal(parts: u32, end: u64) -> Vec<Self> {
        let step = u64::from(parts.max(1));
        (0..step).map(|first| NumberSplit { first, step, end, next: first }).collect()
    }

    pub(super) fn is_done(&self) -> bool {
        self.next >= self.end
    }
}

impl Split for NumberSplit {
    fn id(&self) -> String {
        format!("{} of {}", self.first, self.step)
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        [self.first, self.step, self.end, self.next].into_iter().for_each(|number| put_u64(&mut out, number));
        out
    }

    fn decode(bytes: &[u8]) -> JobResult<Self> {
        let mut input = Reader::new(bytes);
        let split = NumberSplit { first: input.u64()?, step: input.u64()?, end: input.u64()?, next: input.u64()? };
        if split.step == 0 { Err(JobError::new("a split without a step")) } else { Ok(split) }
    }
}

/// Gives each reader its share of the splits at once: they never end, so that nobody comes for a second one.
#[derive(Debug)]
pub struct NumberEnumerator {
    pub(super) splits: StaticEnumerator<NumberSplit>,
    pub(super) parts: u32,
}

impl SplitEnumerator<NumberSplit> for NumberEnumerator {
    type Found = ();

    fn start(&mut self, _context: &mut EnumeratorContext<NumberSplit>) -> JobResult<()> {
        Ok(())
    }

    fn request(&mut self, subtask: u32, context: &mut EnumeratorContext<NumberSplit>) -> JobResult<()> {
        let mut others = Vec::new();
        while let Some(split) = self.splits.take() {
            if split.first % u64::from(self.parts) == u64::from(subtask) {
                context.assign(subtask, split);
            } else {
                others.push(split);
            }
        }
        self.splits.add_back(others);
        context.no_more_splits(subtask);
        Ok(())
    }

    fn add_splits_back(&mut self, splits: Vec<NumberSplit>, _context: &mut EnumeratorContext<NumberSplit>) -> JobResult<()> {
        self.splits.add_back(splits);
        Ok(())
    }

    fn unassigned(&self) -> usize {
        self.splits.len()
    }

    fn snapshot(&self) -> Vec<u8> {
        self.splits.snapshot()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::EnumeratorAction;

    #[test]
    fn splits_survive_their_encoding() {
        let split = NumberSplit { first: 1, step: 3, end: 100, next: 40 };
        assert_eq!(NumberSplit::decode(&split.encode()).unwrap(), split);
    }

    #[test]
    fn every_split_has_a_reader_whatever_the_parallelism_was() {
        for (before, after) in [(4, 4), (4, 3), (2, 5), (1, 1)] {
            let mut enumerator = NumberEnumerator { splits: StaticEnumerator::new([]), parts: after };
            enumerator.add_splits_back(NumberSplit::deal(before, 10), &mut EnumeratorContext::new()).unwrap();
            let mut assigned = 0;
            for subtask in 0..after {
                let mut context = EnumeratorContext::new();
                enumerator.request(subtask, &mut context).unwrap();
                let actions = context.into_parts().0;
                assert_eq!(actions.last(), Some(&EnumeratorAction::NoMoreSplits(subtask)));
                assigned += actions.len() - 1;
            }
            assert_eq!((assigned, enumerator.unassigned()), (before as usize, 0));
        }
    }
}
