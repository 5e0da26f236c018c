//! A source driven by hand: one enumerator and one reader on the thread of the test, without a job around them. For what a job
//! cannot be brought to do at a given moment.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use millstream::operator::ErrorRow;
use millstream::source::{
    Call, EnumeratorAction, EnumeratorContext, ReaderContext, ReaderStatus, Source, SourceContext as Place, SourceOutput,
    SourceReader, SplitEnumerator, Throttle,
};
use millstream::{JobError, JobResult};

type Found<S> = <<S as Source>::Enumerator as SplitEnumerator<<S as Source>::Split>>::Found;

/// A source that moves when it is told to.
pub(super) struct Hands<S: Source> {
    enumerator: S::Enumerator,
    reader: S::Reader,
    calls: Vec<(Instant, Call<Found<S>>)>,
    waker: Waker,
    /// It was told that it waits for a split.
    asked: bool,
    out: Rows,
}

/// Everything that was emitted.
#[derive(Default)]
struct Rows {
    rows: Vec<String>,
    selected: String,
    events: Vec<Vec<u8>>,
}

/// What came of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Moved,
    /// Nothing happened within the time.
    Quiet,
    End,
}

/// Wakes the thread of the test.
struct Unpark(Thread);

impl std::task::Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl<S: Source<Row: std::fmt::Debug>> Hands<S> {
    /// Starts anew, or where `restored` was: the enumerator's snapshot, and the splits of the reader.
    pub(super) fn start(source: &S, restored: Option<(Vec<u8>, Vec<S::Split>)>) -> JobResult<Self> {
        let place = Place { name: "rows".to_owned(), parallelism: 1 };
        let here = ReaderContext { name: "rows".to_owned(), subtask: 0, parallelism: 1, throttle: Arc::new(Throttle::default()) };
        let (snapshot, splits) = restored.map_or((None, None), |(snapshot, splits)| (Some(snapshot), Some(splits)));
        let mut hands: Hands<S> = Hands {
            enumerator: source.enumerator(&place, snapshot.as_deref())?,
            reader: source.reader(&here)?,
            calls: Vec::new(),
            waker: Arc::new(Unpark(std::thread::current())).into(),
            asked: false,
            out: Rows::default(),
        };
        hands.reader.start()?;
        if let Some(splits) = splits {
            hands.ask(|enumerator, context| enumerator.add_splits_back(splits, context))?;
        }
        hands.ask(SplitEnumerator::start)?;
        hands.ask(|enumerator, context| enumerator.reader_added(0, context))?;
        Ok(hands)
    }

    /// What it emitted so far.
    pub(super) fn out(&self) -> &[String] {
        &self.out.rows
    }

    /// The split of the last row.
    pub(super) fn selected(&self) -> &str {
        &self.out.selected
    }

    /// What a checkpoint would hold of it now.
    pub(super) fn snapshot(&self) -> (Vec<u8>, Vec<S::Split>) {
        (self.enumerator.snapshot(), self.reader.snapshot())
    }

    pub(super) fn set_paused(&mut self, split: &str, paused: bool) -> bool {
        self.reader.set_paused(split, paused)
    }

    fn ask(
        &mut self,
        ask: impl FnOnce(&mut S::Enumerator, &mut EnumeratorContext<S::Split, Found<S>>) -> JobResult<()>,
    ) -> JobResult<()> {
        let mut context = EnumeratorContext::new();
        ask(&mut self.enumerator, &mut context)?;
        let (actions, calls) = context.into_parts();
        self.calls.extend(calls.into_iter().map(|call| (Instant::now() + call.after, call)));
        for action in actions {
            self.asked = false;
            match action {
                EnumeratorAction::Assign(_, split) => self.reader.add_splits(vec![split])?,
                EnumeratorAction::NoMoreSplits(_) | EnumeratorAction::NoMoreSplitsForNow(_) => self.reader.no_more_splits(),
                EnumeratorAction::Event(_, event) => self.reader.source_event(&event)?,
            }
        }
        Ok(())
    }

    fn due_call(&mut self) -> Option<Call<Found<S>>> {
        let due = self.calls.iter().position(|(at, _)| *at <= Instant::now())?;
        Some(self.calls.swap_remove(due).1)
    }

    /// A poll of the reader and whatever follows from it; waits for so long that something happens.
    pub(super) fn step(&mut self, patience: Duration) -> JobResult<Step> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(call) = self.due_call() {
                let found = (call.work)();
                self.ask(|enumerator, context| enumerator.found(found, context))?;
            }
            let before = self.out.rows.len();
            let waker = self.waker.clone();
            let polled = self.reader.poll(&mut Context::from_waker(&waker), &mut self.out);
            for event in std::mem::take(&mut self.out.events) {
                self.ask(|enumerator, context| enumerator.source_event(0, &event, context))?;
            }
            match polled {
                Poll::Ready(Ok(ReaderStatus::End)) => return Ok(Step::End),
                Poll::Ready(Ok(ReaderStatus::NeedsSplit)) if !self.asked => {
                    self.asked = true;
                    self.ask(|enumerator, context| enumerator.request(0, context))?;
                    continue;
                }
                Poll::Ready(Ok(ReaderStatus::More)) if self.out.rows.len() == before && Instant::now() < deadline => continue,
                Poll::Ready(Ok(_)) | Poll::Pending => {}
                Poll::Ready(Err(error)) => return Err(error),
            }
            if self.out.rows.len() > before {
                return Ok(Step::Moved);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Step::Quiet);
            }
            std::thread::park_timeout(left.min(Duration::from_millis(5)));
        }
    }
}

impl<T: std::fmt::Debug> SourceOutput<T> for Rows {
    fn split_added(&mut self, _split: &str) {}

    fn select_split(&mut self, split: &str) {
        split.clone_into(&mut self.selected);
    }

    fn bytes_read(&mut self, _bytes: u64) {}

    fn reject_record(
        &mut self,
        reason: &str,
        message: impl FnOnce() -> String,
        _row: impl FnOnce() -> ErrorRow,
    ) -> JobResult<()> {
        Err(JobError::new(format!("{reason}: {}", message())))
    }

    fn emit_record(&mut self, row: T, _record: impl FnOnce() -> ErrorRow) -> JobResult<()> {
        self.rows.push(format!("{row:?}"));
        Ok(())
    }

    fn split_finished(&mut self, _split: &str) {}

    fn send_event(&mut self, event: Vec<u8>) {
        self.events.push(event);
    }
}
