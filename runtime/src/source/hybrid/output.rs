//! What a stage's reader writes into: remembers what later stages ask for, and tells the splits of stages apart.

use std::marker::PhantomData;

use super::event::FromReader;
use super::split::write_id;
use super::summary::Summary;
use crate::error::JobResult;
use crate::operator::ErrorRow;
use crate::source::SourceOutput;

/// In front of the output of the source.
pub(super) struct StageOutput<'a, T, E, O> {
    pub(super) stage: u32,
    pub(super) summary: &'a mut E,
    /// Splits of the reader that are not read to their end.
    pub(super) splits: &'a mut usize,
    pub(super) out: &'a mut O,
    /// Memory for a name, used again and again.
    pub(super) id: &'a mut String,
    pub(super) row: PhantomData<fn(T)>,
}

impl<T, E: Summary<T>, O: SourceOutput<T>> SourceOutput<T> for StageOutput<'_, T, E, O> {
    fn split_added(&mut self, split: &str) {
        write_id(self.stage, split, self.id);
        self.out.split_added(self.id);
    }

    fn select_split(&mut self, split: &str) {
        write_id(self.stage, split, self.id);
        self.out.select_split(self.id);
    }

    #[inline]
    fn emit_record(&mut self, row: T, record: impl FnOnce() -> ErrorRow) -> JobResult<()> {
        self.summary.observe(&row)?;
        self.out.emit_record(row, record)
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
        *self.splits = self.splits.saturating_sub(1);
        write_id(self.stage, split, self.id);
        self.out.split_finished(self.id);
    }

    fn send_event(&mut self, event: Vec<u8>) {
        self.out.send_event(FromReader::Inner { stage: self.stage, event }.encode());
    }
}
