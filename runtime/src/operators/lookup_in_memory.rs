//! `join rates as r on ..` with a `lookup` that is loaded as a whole: by key in memory, loaded again from time to time.
//!
//! No row comes in before the table has been loaded. While it is loaded again, the rows of before are looked up; a table that cannot be
//! loaded again is tried a few times, and then the job fails. There is no state: after a restart rows meet the table as it is then.

use std::task::{Context, Poll, ready};
use std::time::Duration;

use hashbrown::HashMap;
use tokio::task::JoinHandle;

use super::{Joining, lookup_rows};
use crate::error::{JobError, JobResult};
use crate::graph::JoinKind;
use crate::lookup::{WholeTable, pause};
use crate::operator::{Backlog, Collector, Failure, Operator};
use crate::time::Watermark;

/// A table that cannot be loaded again is tried so often.
const RETRIES: u32 = 5;

/// What a load gives: None where nothing has changed.
type Loaded<T> = JobResult<Option<(<T as WholeTable>::Version, Vec<<T as WholeTable>::Row>)>>;

/// Looks rows up in a table in memory.
pub struct LookupInMemory<J: Joining, T: WholeTable> {
    kind: JoinKind,
    joining: J,
    name: &'static str,
    table: T,
    /// How old the rows may be, in microseconds; None: loaded once.
    keep: Option<i64>,
    rows: Option<HashMap<J::Key, Vec<J::Right>>>,
    version: Option<T::Version>,
    loading: Option<JoinHandle<(Option<T::Version>, Loaded<T>)>>,
    /// Loads that have failed since the last that did not.
    failed: u32,
    /// When to load again.
    due: Option<i64>,
    now: i64,
}

impl<J, T> LookupInMemory<J, T>
where
    J: Joining,
    T: WholeTable<Row = J::Right>,
{
    /// `name`: that of the `lookup`. `keep`: the microseconds of `cache`.
    pub fn new(kind: JoinKind, name: &'static str, joining: J, table: T, keep: Option<i64>) -> Self {
        LookupInMemory {
            kind,
            joining,
            name,
            table,
            keep,
            rows: None,
            version: None,
            loading: None,
            failed: 0,
            due: None,
            now: i64::MIN,
        }
    }

    fn load(&mut self, after: Duration) {
        let (table, version) = (self.table.clone(), self.version.take());
        self.due = None;
        self.loading = Some(tokio::spawn(async move {
            tokio::time::sleep(after).await;
            let loaded = crate::seam::blocking(move || {
                let loaded = table.load(version.as_ref());
                (version, loaded)
            });
            loaded.await.unwrap_or_else(|error| (None, Err(JobError::transient(format!("loading it panicked: {error}")))))
        }));
    }

    fn loaded(&mut self, version: Option<T::Version>, loaded: Loaded<T>) -> Result<(), Failure> {
        match loaded {
            Ok(Some((version, list))) => {
                let mut rows: HashMap<J::Key, Vec<J::Right>> = HashMap::with_capacity(list.len());
                for row in list {
                    let key = self.joining.right_key(&row).map_err(|error| JobError::from(error).context(self.context()))?;
                    if self.joining.can_match(&key) {
                        rows.entry(key).or_default().push(row);
                    }
                }
                (self.rows, self.version) = (Some(rows), Some(version));
            }
            Ok(None) => self.version = version,
            // A wrong path, or rows that cannot be read: at the start that is no accident.
            Err(error) if self.rows.is_none() || self.failed >= RETRIES => {
                return Err(Failure::Fatal(error.context(self.context())));
            }
            Err(_) => {
                self.failed += 1;
                self.version = version;
                self.load(pause(self.failed) * 10);
                return Ok(());
            }
        }
        self.failed = 0;
        // The first load may be over before the clock is known.
        self.due = self.keep.filter(|_| self.now > i64::MIN).map(|keep| self.now.saturating_add(keep));
        Ok(())
    }

    fn context(&self) -> String {
        format!("lookup {}", self.name)
    }
}

impl<J, T> Operator<J::Left> for LookupInMemory<J, T>
where
    J: Joining,
    T: WholeTable<Row = J::Right>,
{
    type Out = J::Out;

    fn process(&mut self, row: J::Left, out: &mut impl Collector<J::Out>) -> Result<(), Failure> {
        let Some(rows) = &self.rows else {
            return Err(Failure::Fatal(JobError::new("a row came before the table was loaded").context(self.context())));
        };
        let key = self.joining.left_key(&row)?;
        let found = if self.joining.can_match(&key) { rows.get(&key) } else { None };
        lookup_rows::emit(self.kind, &self.joining, &row, found.map_or(&[], Vec::as_slice), out)
    }

    fn on_processing_time(&mut self, now: i64, _out: &mut impl Collector<J::Out>) -> Result<(), Failure> {
        // While the first load is on its way, another would only begin it anew.
        if self.now == i64::MIN && self.rows.is_some() {
            self.due = self.keep.map(|keep| now.saturating_add(keep));
        }
        if now < self.now
            && let (Some(due), Some(keep)) = (&mut self.due, self.keep)
        {
            // The clock was set back: the table is no younger than that.
            *due = (*due).min(now.saturating_add(keep));
        }
        self.now = now;
        if self.due.is_some_and(|due| due <= now) {
            self.load(Duration::ZERO);
        }
        Ok(())
    }

    fn next_processing_time(&self) -> Option<i64> {
        self.due
    }

    fn poll_background(
        &mut self,
        context: &mut Context<'_>,
        _out: &mut impl Collector<J::Out>,
    ) -> Poll<Result<Option<Watermark>, Failure>> {
        if self.loading.is_none() && self.rows.is_none() {
            self.load(Duration::ZERO);
        }
        let Some(loading) = &mut self.loading else { return Poll::Pending };
        let done = ready!(std::pin::Pin::new(loading).poll(context));
        self.loading = None;
        let (version, loaded) = done.unwrap_or_else(|error| (None, Err(JobError::transient(error.to_string()))));
        Poll::Ready(self.loaded(version, loaded).map(|()| None))
    }

    fn backlog(&self) -> Backlog {
        if self.rows.is_none() { Backlog::Full } else { Backlog::Nothing }
    }
}

impl<J: Joining, T: WholeTable> std::fmt::Debug for LookupInMemory<J, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LookupInMemory").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl<J: Joining, T: WholeTable> Drop for LookupInMemory<J, T> {
    fn drop(&mut self) {
        if let Some(loading) = &self.loading {
            loading.abort();
        }
    }
}
