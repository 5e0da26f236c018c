//! Failures on purpose: of a task after so many rows, and of a committer at a step of its commit.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use millstream::sink::{CommitRequest, Committer, Compactor, GlobalCommitter, RetryPolicy, Sink, SinkContext, SinkStart};
use millstream::{JobError, JobResult};

/// Where a committer fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The checkpoint is stored, nothing of it is committed.
    Before,
    /// The first half is committed.
    Within,
    /// Everything is committed, and nobody has noted it.
    After,
}

/// The failures that are to come. Each happens once.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// Rows until a task fails; 0: it does not.
    rows: AtomicU64,
    step: Mutex<Option<Step>>,
    /// End the process instead of the attempt.
    abort: bool,
    happened: AtomicU64,
}

impl Faults {
    /// Steps of commits end the whole process.
    pub(crate) fn aborting(step: Step) -> Self {
        Faults { step: Mutex::new(Some(step)), abort: true, ..Faults::default() }
    }

    /// A task fails after so many rows more.
    pub(crate) fn fail_after(&self, rows: u64) {
        self.rows.store(rows.max(1), SeqCst);
    }

    /// The next commit fails at this step.
    pub(crate) fn fail_at(&self, step: Step) {
        *self.step.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(step);
    }

    /// How many have happened.
    pub(crate) fn happened(&self) -> u64 {
        self.happened.load(SeqCst)
    }

    /// A task has a row.
    pub(crate) fn row(&self) -> JobResult<()> {
        let last = self.rows.load(SeqCst) > 0
            && self.rows.fetch_update(SeqCst, SeqCst, |rows| rows.checked_sub(1)).is_ok_and(|before| before == 1);
        if !last {
            return Ok(());
        }
        self.happened.fetch_add(1, SeqCst);
        Err(JobError::transient("the kit made this task fail"))
    }

    fn reached(&self, step: Step) -> JobResult<()> {
        let mut planned = self.step.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if *planned != Some(step) {
            return Ok(());
        }
        if self.abort {
            std::process::abort();
        }
        *planned = None;
        self.happened.fetch_add(1, SeqCst);
        Err(JobError::transient(format!("the kit made the commit fail: {step:?}")))
    }
}

/// A sink whose committer fails as planned.
#[derive(Debug)]
pub(crate) struct Breaking<S> {
    sink: S,
    faults: Arc<Faults>,
}

impl<S> Breaking<S> {
    pub(crate) fn new(sink: S, faults: Arc<Faults>) -> Self {
        Breaking { sink, faults }
    }
}

impl<T, S: Sink<T>> Sink<T> for Breaking<S> {
    type Writer = S::Writer;

    fn writer(&self, context: &SinkContext) -> JobResult<Self::Writer> {
        self.sink.writer(context)
    }

    fn committer(&self, context: &SinkContext) -> JobResult<Option<Box<dyn Committer>>> {
        let inner = self.sink.committer(context)?;
        Ok(inner.map(|inner| Box::new(BreakingCommitter { inner, faults: self.faults.clone() }) as Box<dyn Committer>))
    }

    fn compactor(&self, context: &SinkContext) -> JobResult<Option<Arc<dyn Compactor>>> {
        self.sink.compactor(context)
    }

    fn global_committer(&self, context: &SinkContext) -> JobResult<Option<Box<dyn GlobalCommitter>>> {
        self.sink.global_committer(context)
    }
}

struct BreakingCommitter {
    inner: Box<dyn Committer>,
    faults: Arc<Faults>,
}

impl Committer for BreakingCommitter {
    fn start(&mut self, start: &SinkStart) -> JobResult<()> {
        self.inner.start(start)
    }

    fn commit(&mut self, requests: &mut [CommitRequest]) -> JobResult<()> {
        self.faults.reached(Step::Before)?;
        let (first, second) = requests.split_at_mut(requests.len().div_ceil(2));
        self.inner.commit(first)?;
        self.faults.reached(Step::Within)?;
        if !second.is_empty() {
            self.inner.commit(second)?;
        }
        self.faults.reached(Step::After)
    }

    fn discard_unknown(&mut self, start: &SinkStart, waiting: &[Vec<u8>]) -> JobResult<()> {
        self.inner.discard_unknown(start, waiting)
    }

    fn retry(&self) -> RetryPolicy {
        self.inner.retry()
    }

    fn finish(&mut self) -> JobResult<()> {
        self.inner.finish()
    }
}
