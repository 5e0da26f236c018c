//! Why an operator could not go on with a row.

use crate::error::JobError;
use crate::value::EvalError;

/// Why an operator could not go on.
#[derive(Debug)]
pub enum Failure {
    /// An expression has no value for this row. The job's policy decides: stop, or leave the row out and count it.
    Row(EvalError),
    /// The job stops.
    Fatal(JobError),
}

impl From<EvalError> for Failure {
    #[cold]
    fn from(error: EvalError) -> Self {
        Failure::Row(error)
    }
}

impl From<JobError> for Failure {
    #[cold]
    fn from(error: JobError) -> Self {
        Failure::Fatal(error)
    }
}
