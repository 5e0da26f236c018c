//! The coordinator's half of the file source: finds files and hands them out one by one.

use std::collections::BTreeSet;
use std::time::Duration;

use super::discover::Search;
use super::split::FileSplit;
use crate::bytes::{Reader, put_bytes, put_u32};
use crate::error::JobResult;
use crate::source::{EnumeratorContext, SplitEnumerator, StaticEnumerator};

/// Finds the files when the job starts, hands them out one by one.
#[derive(Debug)]
pub struct FileEnumerator {
    search: Search,
    splits: StaticEnumerator<FileSplit>,
    /// Whether the files have been looked for.
    discovered: bool,
    /// Readers that have asked for a split while there was none.
    waiting: BTreeSet<u32>,
}

impl FileEnumerator {
    pub(crate) fn new(search: Search, restored: Option<&[u8]>) -> JobResult<Self> {
        let (discovered, splits) = match restored {
            Some(bytes) => {
                let mut input = Reader::new(bytes);
                (input.u32()? != 0, StaticEnumerator::restore(input.bytes()?)?)
            }
            None => (false, StaticEnumerator::new([])),
        };
        Ok(FileEnumerator { search, splits, discovered, waiting: BTreeSet::new() })
    }

    fn serve(&mut self, context: &mut EnumeratorContext<FileSplit, Vec<FileSplit>>) {
        while let Some(&subtask) = self.waiting.first() {
            match self.splits.take() {
                Some(split) => context.assign(subtask, split),
                None if self.discovered => context.no_more_splits(subtask),
                None => return,
            }
            self.waiting.remove(&subtask);
        }
    }
}

impl SplitEnumerator<FileSplit> for FileEnumerator {
    type Found = Vec<FileSplit>;

    fn start(&mut self, context: &mut EnumeratorContext<FileSplit, Self::Found>) -> JobResult<()> {
        if !self.discovered {
            let search = self.search.clone();
            context.call(Duration::ZERO, move || search.splits());
        }
        Ok(())
    }

    fn found(&mut self, found: JobResult<Self::Found>, context: &mut EnumeratorContext<FileSplit, Self::Found>) -> JobResult<()> {
        self.splits = StaticEnumerator::new(found?);
        self.discovered = true;
        self.serve(context);
        Ok(())
    }

    fn reader_added(&mut self, subtask: u32, _context: &mut EnumeratorContext<FileSplit, Self::Found>) -> JobResult<()> {
        self.waiting.remove(&subtask);
        Ok(())
    }

    fn request(&mut self, subtask: u32, context: &mut EnumeratorContext<FileSplit, Self::Found>) -> JobResult<()> {
        self.waiting.insert(subtask);
        self.serve(context);
        Ok(())
    }

    fn add_splits_back(
        &mut self,
        splits: Vec<FileSplit>,
        context: &mut EnumeratorContext<FileSplit, Self::Found>,
    ) -> JobResult<()> {
        self.splits.add_back(splits);
        self.serve(context);
        Ok(())
    }

    fn unassigned(&self) -> usize {
        self.splits.len()
    }

    fn holds_watermark(&self) -> bool {
        !self.discovered || self.unassigned() > 0
    }

    fn snapshot(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_u32(&mut out, u32::from(self.discovered));
        put_bytes(&mut out, &SplitEnumerator::snapshot(&self.splits));
        out
    }
}
