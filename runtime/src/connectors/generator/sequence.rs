//! Numbers in sequence, as rows.

use crate::error::{JobError, JobResult};
use crate::format_text;
use crate::options::Options;
use crate::record::{Cell, Record, Row};
use crate::value::Timestamp;

/// 2026-01-01T00:00:00Z
const START: i64 = 1_767_225_600_000_000;

/// Makes rows of whatever columns: the number, as a number or a text, and a time that moves on with it.
#[derive(Clone, Debug)]
pub struct Sequence {
    columns: Vec<Column>,
    start: i64,
    events_per_second: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Number,
    Float,
    Text,
    Time,
}

impl Sequence {
    pub(super) fn new<T: Record>(options: &Options) -> JobResult<Self> {
        let column = |column: &crate::record::Column| {
            let ty = (column.ty)();
            match ty.trim_end_matches('?') {
                "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64" => Ok(Column::Number),
                "float32" | "float64" => Ok(Column::Float),
                "string" => Ok(Column::Text),
                "timestamp" => Ok(Column::Time),
                _ => Err(JobError::new(format!(
                    "a sequence cannot fill the column `{}` of type {ty}; it makes integers, floats, strings and timestamps",
                    column.name
                ))),
            }
        };
        Ok(Sequence {
            columns: T::COLUMNS.iter().map(column).collect::<JobResult<_>>()?,
            start: options.int("start")?.unwrap_or(START),
            events_per_second: options.int("events_per_second")?.unwrap_or(10_000).max(1),
        })
    }

    pub(super) fn row(&self, number: u64) -> SequenceRow<'_> {
        SequenceRow { sequence: self, number: i64::try_from(number).unwrap_or(i64::MAX) }
    }
}

/// One number.
#[derive(Clone, Copy, Debug)]
pub(super) struct SequenceRow<'a> {
    sequence: &'a Sequence,
    number: i64,
}

impl Row for SequenceRow<'_> {
    #[inline]
    fn cell(&self, slot: usize) -> Cell<'_> {
        match self.sequence.columns.get(slot) {
            Some(Column::Number) => Cell::Int(self.number),
            #[allow(clippy::cast_precision_loss)]
            Some(Column::Float) => Cell::Float(self.number as f64),
            Some(Column::Text) => Cell::Str(format_text!("{}", self.number)),
            Some(Column::Time) => {
                let passed = self.number.saturating_mul(1_000_000) / self.sequence.events_per_second;
                Cell::Timestamp(Timestamp(self.sequence.start.saturating_add(passed)))
            }
            None => Cell::Null,
        }
    }
}
