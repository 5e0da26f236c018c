//! External tables that are read by key: what connectors of `lookup` items implement, and how they are asked.
//!
//! A table is either loaded as a whole and kept in memory ([`WholeTable`]), or asked key by key ([`KeyedTable`]). Both
//! traits block: the operators call them on threads for blocking work, and try again what may get better.

mod cache;
mod file;

use std::time::Duration;

pub use cache::Cache;
pub use file::FileLookup;

use crate::error::{JobError, JobResult};
use crate::sink::RetryPolicy;
use crate::value::Str;

/// A table that fits into memory.
pub trait WholeTable: Clone + Send + Sync + 'static {
    /// Its rows.
    type Row: Send + Sync + 'static;
    /// What tells one state of it from another.
    type Version: Send + 'static;

    /// All rows; None: it is still what it was at `known`.
    fn load(&self, known: Option<&Self::Version>) -> JobResult<Option<(Self::Version, Vec<Self::Row>)>>;
}

/// A table that answers for a key.
pub trait KeyedTable: Clone + Send + Sync + 'static {
    /// Its rows.
    type Row: Send + Sync + 'static;

    /// The rows of a key, whose columns come as texts in the order of the item's `key`.
    fn ask(&self, key: &[Str]) -> Answer<Self::Row>;

    /// How many keys may be asked for at the same time, per subtask.
    fn in_flight(&self) -> usize;

    /// How often a key is asked for again.
    fn retries(&self) -> u32;
}

/// What came of a question.
#[derive(Debug)]
pub enum Answer<T> {
    /// These rows, or none.
    Rows(Vec<T>),
    /// Nothing for now. `after`: how long to leave it alone, where it has said so.
    Retry {
        /// The message, in case it is given up.
        reason: String,
        /// The pause.
        after: Option<Duration>,
    },
    /// There is no use in asking again.
    Failed(JobError),
}

/// The table of a `lookup`, or why there is none.
pub fn open<T>(name: &str, table: JobResult<T>) -> JobResult<T> {
    table.map_err(|error| error.context(format_args!("lookup {name}")))
}

/// The pause before the attempt of this number (from 1), where none was asked for: 100 ms, 200 ms and so on up to 30 s.
pub(crate) fn pause(attempt: u32) -> Duration {
    RetryPolicy { longest_delay: Duration::from_secs(30), ..RetryPolicy::default() }.delay(attempt)
}
