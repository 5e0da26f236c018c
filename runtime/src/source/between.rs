//! Rows of a source between two times: `since` (inclusive) and `until` (exclusive), by the rows' own time.
//!
//! With `until: t` in one stage and `since: t` in the next, every row of both is read once, in whatever order they come: rows
//! without a time belong to the first.

use std::marker::PhantomData;
use std::task::{Context, Poll};

use super::{ReaderContext, ReaderStatus, Source, SourceContext, SourceOutput, SourceReader};
use crate::error::JobResult;
use crate::operator::ErrorRow;
use crate::options::Options;
use crate::value::Timestamp;

/// A source whose other rows are left out.
#[derive(Clone, Debug)]
pub struct Between<S, F> {
    source: S,
    time: F,
    range: Range,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    since: Option<i64>,
    until: Option<i64>,
}

impl Range {
    #[inline]
    fn contains(&self, time: Option<Timestamp>) -> bool {
        match time {
            Some(time) => self.since.is_none_or(|since| time.0 >= since) && self.until.is_none_or(|until| time.0 < until),
            None => self.since.is_none(),
        }
    }
}

impl<S: Source, F> Between<S, F>
where
    F: Fn(&S::Row) -> Option<Timestamp> + Clone + Send + 'static,
{
    /// The rows of a source whose `time` is in the range that the options `since` and `until` give.
    pub fn from_options(source: S, time: F, options: &Options) -> JobResult<Self> {
        let range = Range { since: options.int("since")?, until: options.int("until")? };
        Ok(Between { source, time, range })
    }
}

impl<S: Source, F> Source for Between<S, F>
where
    F: Fn(&S::Row) -> Option<Timestamp> + Clone + Send + 'static,
{
    type Row = S::Row;
    type Split = S::Split;
    type Enumerator = S::Enumerator;
    type Reader = BetweenReader<S::Reader, F>;

    fn enumerator(&self, context: &SourceContext, restored: Option<&[u8]>) -> JobResult<S::Enumerator> {
        self.source.enumerator(context, restored)
    }

    fn reader(&self, context: &ReaderContext) -> JobResult<Self::Reader> {
        Ok(BetweenReader { reader: self.source.reader(context)?, time: self.time.clone(), range: self.range })
    }

    fn bounded(&self) -> bool {
        self.source.bounded()
    }
}

/// Leaves rows out on their way from the reader.
#[derive(Debug)]
pub struct BetweenReader<R, F> {
    reader: R,
    time: F,
    range: Range,
}

impl<R, F> SourceReader for BetweenReader<R, F>
where
    R: SourceReader,
    F: Fn(&R::Row) -> Option<Timestamp> + Send,
{
    type Row = R::Row;
    type Split = R::Split;

    fn start(&mut self) -> JobResult<()> {
        self.reader.start()
    }

    fn add_splits(&mut self, splits: Vec<R::Split>) -> JobResult<()> {
        self.reader.add_splits(splits)
    }

    fn no_more_splits(&mut self) {
        self.reader.no_more_splits();
    }

    fn source_event(&mut self, event: &[u8]) -> JobResult<()> {
        self.reader.source_event(event)
    }

    fn poll(&mut self, context: &mut Context<'_>, out: &mut impl SourceOutput<R::Row>) -> Poll<JobResult<ReaderStatus>> {
        self.reader.poll(context, &mut InRange { out, time: &self.time, range: self.range, row: PhantomData })
    }

    fn snapshot(&self) -> Vec<R::Split> {
        self.reader.snapshot()
    }

    fn snapshot_taken(&mut self, checkpoint: u64) {
        self.reader.snapshot_taken(checkpoint);
    }

    fn holds_watermark(&self) -> bool {
        self.reader.holds_watermark()
    }

    fn checkpoint_complete(&mut self, checkpoint: u64) -> JobResult<()> {
        self.reader.checkpoint_complete(checkpoint)
    }

    fn checkpoint_aborted(&mut self, checkpoint: u64) -> JobResult<()> {
        self.reader.checkpoint_aborted(checkpoint)
    }

    fn set_paused(&mut self, split: &str, paused: bool) -> bool {
        self.reader.set_paused(split, paused)
    }
}

struct InRange<'a, T, F, O> {
    out: &'a mut O,
    time: &'a F,
    range: Range,
    row: PhantomData<fn(T)>,
}

impl<T, F: Fn(&T) -> Option<Timestamp>, O: SourceOutput<T>> SourceOutput<T> for InRange<'_, T, F, O> {
    fn split_added(&mut self, split: &str) {
        self.out.split_added(split);
    }

    fn select_split(&mut self, split: &str) {
        self.out.select_split(split);
    }

    #[inline]
    fn emit_record(&mut self, row: T, record: impl FnOnce() -> ErrorRow) -> JobResult<()> {
        if self.range.contains((self.time)(&row)) { self.out.emit_record(row, record) } else { Ok(()) }
    }

    fn fetched(&mut self, at: i64) {
        self.out.fetched(at);
    }

    fn bytes_read(&mut self, bytes: u64) {
        self.out.bytes_read(bytes);
    }

    fn reject_record(&mut self, reason: &str, message: impl FnOnce() -> String, row: impl FnOnce() -> ErrorRow) -> JobResult<()> {
        self.out.reject_record(reason, message, row)
    }

    fn split_finished(&mut self, split: &str) {
        self.out.split_finished(split);
    }

    fn send_event(&mut self, event: Vec<u8>) {
        self.out.send_event(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ranges_that_meet_have_every_time_once() {
        let before = Range { since: None, until: Some(10) };
        let after = Range { since: Some(10), until: None };
        for time in [None, Some(i64::MIN), Some(9), Some(10), Some(11), Some(i64::MAX)].map(|time| time.map(Timestamp)) {
            assert!(before.contains(time) != after.contains(time), "{time:?}");
        }
    }

    /// What a channel keeps until a checkpoint has it.
    #[test]
    fn a_reader_hears_which_checkpoint_has_what_it_gave() {
        #[derive(Default)]
        struct Told(Vec<String>);

        impl SourceReader for Told {
            type Row = i64;
            type Split = crate::source::hybrid::HybridSplit;

            fn add_splits(&mut self, _splits: Vec<Self::Split>) -> JobResult<()> {
                Ok(())
            }

            fn no_more_splits(&mut self) {}

            fn poll(&mut self, _: &mut Context<'_>, _: &mut impl SourceOutput<i64>) -> Poll<JobResult<ReaderStatus>> {
                Poll::Ready(Ok(ReaderStatus::End))
            }

            fn snapshot(&self) -> Vec<Self::Split> {
                Vec::new()
            }

            fn snapshot_taken(&mut self, checkpoint: u64) {
                self.0.push(format!("taken {checkpoint}"));
            }

            fn checkpoint_complete(&mut self, checkpoint: u64) -> JobResult<()> {
                self.0.push(format!("complete {checkpoint}"));
                Ok(())
            }
        }

        let range = Range { since: None, until: None };
        let mut reader = BetweenReader { reader: Told::default(), time: |_: &i64| None, range };
        reader.snapshot_taken(3);
        reader.checkpoint_complete(3).unwrap();
        assert_eq!(reader.reader.0, ["taken 3", "complete 3"]);
    }
}
