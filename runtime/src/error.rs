//! What makes a job fail: a message for people, with where it happened, and whether trying again can help.

use std::fmt;

/// Why a job failed or cannot start. As large as one pointer: it is returned once per row and stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobError(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    message: String,
    kind: ErrorKind,
}

/// What can be done about a [`JobError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The outside world failed: a restart may help.
    Transient,
    /// The same input fails again: bad data, an overflow, a wrong option. The job stops at once.
    Permanent,
    /// The command line is wrong: exit code 2.
    Usage,
}

/// The result of anything that can fail a job.
pub type JobResult<T> = Result<T, JobError>;

impl JobError {
    /// An error that comes back with the same input.
    #[cold]
    pub fn new(message: impl Into<String>) -> Self {
        JobError::of_kind(message.into(), ErrorKind::Permanent)
    }

    /// An error of the outside world, which a restart may cure.
    #[cold]
    pub fn transient(message: impl Into<String>) -> Self {
        JobError::of_kind(message.into(), ErrorKind::Transient)
    }

    /// A mistake on the command line.
    #[cold]
    pub fn usage(message: impl Into<String>) -> Self {
        JobError::of_kind(message.into(), ErrorKind::Usage)
    }

    #[cold]
    fn of_kind(message: String, kind: ErrorKind) -> Self {
        JobError(Box::new(Inner { message, kind }))
    }

    /// An input or output error: `cannot write \`out/x\`: No space left on device (os error 28)`.
    #[cold]
    pub fn io(what: impl fmt::Display, error: &std::io::Error) -> Self {
        JobError::transient(format!("{what}: {error}"))
    }

    /// The same error, with where it happened before it.
    #[must_use]
    pub fn context(mut self, place: impl fmt::Display) -> Self {
        self.0.message = format!("{place}: {}", self.0.message);
        self
    }

    /// The same error, which no restart cures.
    #[must_use]
    pub fn permanent(mut self) -> Self {
        self.0.kind = ErrorKind::Permanent;
        self
    }

    /// What can be done about it.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message, without the word `error`.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for JobError {}

#[cfg(feature = "engine")]
impl From<crate::value::EvalError> for JobError {
    #[cold]
    fn from(error: crate::value::EvalError) -> Self {
        JobError::new(error.to_string())
    }
}
