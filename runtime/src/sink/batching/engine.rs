//! Makes the requests, beside the task: takes rows from the queue when they are due and tells it what came of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::task::{JoinError, JoinSet};

use super::queue::Queue;
use super::{BatchSender, BatchSettings, Entry, SendOutcome};
use crate::error::JobError;
use crate::notice::notice;
use crate::sink::WriterMetrics;

/// A service that is down says the same many times a second: it is passed on no more often.
const SAY_EVERY: Duration = Duration::from_secs(10);

/// What the writer and the engine share.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    /// The writer has something for the engine.
    changed: Notify,
}

#[derive(Debug)]
pub(super) struct State {
    pub queue: Queue,
    pub error: Option<JobError>,
    /// The task, when it waits.
    pub waker: Option<Waker>,
    pub metrics: WriterMetrics,
    closed: bool,
}

impl Shared {
    pub(super) fn new(settings: BatchSettings) -> Self {
        let state =
            State { queue: Queue::new(settings), error: None, waker: None, metrics: WriterMetrics::default(), closed: false };
        Shared { state: Mutex::new(state), changed: Notify::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tell_engine(&self) {
        self.changed.notify_one();
    }

    /// The writer is gone: what is not sent will not be.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }
}

struct Done {
    request: u64,
    rows: usize,
    took: Duration,
    outcome: SendOutcome,
}

/// Runs until the writer is gone or the service has refused rows for good.
pub(super) async fn drive(shared: Arc<Shared>, sender: Arc<dyn BatchSender>, settings: BatchSettings, name: String) {
    let mut requests: JoinSet<Done> = JoinSet::new();
    let mut said = None::<Instant>;
    loop {
        let mut due = Vec::new();
        let next = {
            let mut state = shared.lock();
            if state.closed || state.error.is_some() {
                return;
            }
            let now = Instant::now();
            while let Some((request, entries)) = state.queue.take(now) {
                state.metrics.records_sent += entries.len() as u64;
                state.metrics.bytes_sent += entries.iter().map(|entry| entry.bytes().len() as u64).sum::<u64>();
                due.push((request, entries));
            }
            state.queue.next_time()
        };
        for (request, entries) in due {
            let sender = sender.clone();
            requests.spawn(async move { one(&*sender, request, entries, settings).await });
        }
        tokio::select! {
            Some(joined) = requests.join_next() => {
                let again = settle(&mut shared.lock(), joined);
                // Without the lock: the task must not wait for whoever reads standard error.
                if let Some(reason) = again.filter(|_| said.is_none_or(|at| at.elapsed() > SAY_EVERY)) {
                    said = Some(Instant::now());
                    notice(&format!("{name}: rows are sent again: {reason}"));
                }
            }
            () = shared.changed.notified() => {}
            () = until(next) => {}
        }
    }
}

async fn one(sender: &dyn BatchSender, request: u64, entries: Vec<Entry>, settings: BatchSettings) -> Done {
    let (rows, started) = (entries.len(), Instant::now());
    let outcome = match tokio::time::timeout(settings.timeout, sender.send(entries.into())).await {
        Ok(outcome) => outcome,
        Err(_) => {
            let reason = format!("no answer within {:.1} s", settings.timeout.as_secs_f64());
            match settings.fail_on_timeout {
                true => SendOutcome::Failed(JobError::transient(reason)),
                false => SendOutcome::Retry { entries: None, reason, after: None },
            }
        }
    };
    Done { request, rows, took: started.elapsed(), outcome }
}

/// Notes what came of a request and wakes the task. The reason, where rows have to be sent again.
fn settle(state: &mut State, joined: Result<Done, JoinError>) -> Option<String> {
    if let Some(waker) = state.waker.take() {
        waker.wake();
    }
    let done = match joined {
        Ok(done) => done,
        Err(error) => {
            state.error = Some(JobError::transient(format!("sending panicked: {error}")));
            return None;
        }
    };
    let reason = match &done.outcome {
        SendOutcome::Sent => {
            state.metrics.last_send_micros = u64::try_from(done.took.as_micros()).unwrap_or(u64::MAX);
            None
        }
        SendOutcome::Retry { reason, .. } => Some(reason.clone()),
        SendOutcome::Failed(_) => {
            state.metrics.send_errors += done.rows as u64;
            None
        }
    };
    match state.queue.done(done.request, done.outcome, Instant::now()) {
        Ok(again) => state.metrics.send_errors += again as u64,
        Err(error) => state.error = Some(error),
    }
    reason
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
