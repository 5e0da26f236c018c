//! Where rows go that could not be read or computed: the stream of `on error into x`.
//!
//! In comes an error and what is known of its row; out goes an [`ErrorRow`] to a stage of its own, which takes part in
//! the chain's checkpoints as every other. An operator keeps a copy of a row while it is computed only where the text
//! asks for this and an expression of the operator can fail.

use super::{Either, Stage};
use crate::error::JobError;
use crate::record::{Change, Record};
use crate::value::{EvalError, Str};

/// A row that could not be read or computed. See `graph::errors::columns` for the columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorRow {
    /// The source or operator.
    pub source: Str,
    /// The whole message.
    pub error: Str,
    /// The message without what differs from row to row.
    pub reason: Str,
    /// The file or partition; of an expression its place in the text.
    pub origin: Option<Str>,
    /// Where in the origin.
    pub position: Option<i64>,
    /// The column to blame, or the expression.
    pub field: Option<Str>,
    /// What stood there.
    pub value: Option<Str>,
    /// The record as it came, or the row as JSON.
    pub raw: Option<Str>,
    /// The record where it is no text.
    pub raw_bytes: Option<Vec<u8>>,
}

impl ErrorRow {
    /// The same with the record as it came.
    #[must_use]
    pub fn with_raw(mut self, record: &[u8]) -> Self {
        match std::str::from_utf8(record) {
            Ok(text) => self.raw = Some(text.into()),
            Err(_) => {
                self.raw = Some(Str::from_utf8_lossy(record));
                self.raw_bytes = Some(record.to_vec());
            }
        }
        self
    }

    /// What an expression could not compute.
    #[cold]
    fn of_expression(operator: &str, error: &EvalError, row: Option<Str>) -> Self {
        ErrorRow {
            source: operator.into(),
            error: error.to_string().into(),
            reason: error.reason().into(),
            origin: error.place().map(Str::from),
            field: error.expression().map(Str::from),
            raw: row,
            ..ErrorRow::default()
        }
    }
}

/// The stage that takes such rows.
pub type ErrorStage = Box<dyn Stage<ErrorRow>>;

/// What an operator does with rows that it cannot compute.
pub trait ErrorOutput: Send {
    /// The stage that takes them, to be driven as every other; None: the policy of the job decides.
    fn stage(&self) -> Option<&dyn Stage<ErrorRow>> {
        None
    }

    /// The same stage.
    fn stage_mut(&mut self) -> Option<&mut dyn Stage<ErrorRow>> {
        None
    }
}

/// The half that knows the operator's rows.
pub trait ErrorsOf<In>: ErrorOutput {
    /// What is kept of a row while it is computed.
    type Kept;

    /// Keeps what an error would need.
    fn keep(&self, row: &In) -> Self::Kept;

    /// The row as text.
    fn describe(kept: Self::Kept) -> Option<Str>;
}

/// No stage: nothing is kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoErrors;

impl ErrorOutput for NoErrors {}

impl<In> ErrorsOf<In> for NoErrors {
    type Kept = ();

    #[inline]
    fn keep(&self, _row: &In) {}

    #[inline]
    fn describe((): ()) -> Option<Str> {
        None
    }
}

/// To a stage.
pub struct ErrorsInto(pub ErrorStage);

impl std::fmt::Debug for ErrorsInto {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ErrorsInto")
    }
}

impl ErrorOutput for ErrorsInto {
    fn stage(&self) -> Option<&dyn Stage<ErrorRow>> {
        Some(&*self.0)
    }

    fn stage_mut(&mut self) -> Option<&mut dyn Stage<ErrorRow>> {
        Some(&mut *self.0)
    }
}

impl<In: Describe> ErrorsOf<In> for ErrorsInto {
    type Kept = In;

    #[inline]
    fn keep(&self, row: &In) -> In {
        row.clone()
    }

    #[cold]
    fn describe(row: In) -> Option<Str> {
        Some(row.describe())
    }
}

/// A row as text: JSON.
pub trait Describe: Clone {
    /// The text.
    fn describe(&self) -> Str;
}

impl<T: Record> Describe for T {
    fn describe(&self) -> Str {
        let mut out = Vec::new();
        self.encode_json(&mut out);
        Str::from_utf8_lossy(&out)
    }
}

impl<T: Record> Describe for Change<T> {
    fn describe(&self) -> Str {
        self.row.describe()
    }
}

impl<L: Describe, R: Describe> Describe for Either<L, R> {
    fn describe(&self) -> Str {
        match self {
            Either::Left(row) => row.describe(),
            Either::Right(row) => row.describe(),
        }
    }
}

/// Sends what an expression could not compute. False: there is no stage.
#[cold]
pub(super) fn send<E: ErrorOutput>(
    errors: &mut E,
    operator: &str,
    error: &EvalError,
    row: Option<Str>,
) -> Result<bool, JobError> {
    match errors.stage_mut() {
        Some(stage) => stage.push(ErrorRow::of_expression(operator, error, row)).map(|()| true),
        None => Ok(false),
    }
}
