//! What a person sees of a running job: a status line on a terminal, and a summary at the end.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::coordinator::SinkStatus;
use crate::sink::CommitCounts;
use crate::task::{StatusSnapshot, TaskId, TaskStatus};
use crate::value::Timestamp;

/// The counters of a run, from all its tasks.
#[derive(Debug)]
pub(crate) struct Board {
    started: Instant,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    tasks: Vec<(TaskId, Arc<TaskStatus>)>,
    attempts: u32,
    checkpoints: u64,
    last_checkpoint: Option<(u64, Duration)>,
    /// By uid.
    sinks: BTreeMap<String, Arc<SinkStatus>>,
}

/// Sums over all tasks.
#[derive(Clone, Debug, Default)]
struct Totals {
    /// Rows by source and by sink, in the order of the job.
    sources: Vec<(String, u64)>,
    sinks: Vec<(String, u64)>,
    /// Records left out: by source and reason, and whether they went to a stream of their own; with the first.
    rejects: BTreeMap<(String, String, bool), (u64, String)>,
    /// Rows that came too late, by operator.
    late: BTreeMap<String, u64>,
    stray: BTreeMap<String, u64>,
    watermark: Option<i64>,
}

impl Board {
    pub(crate) fn new() -> Self {
        Board { started: Instant::now(), inner: Mutex::default() }
    }

    /// Tasks of an earlier attempt count no more.
    pub(crate) fn begin_attempt(&self) {
        let mut inner = self.lock();
        inner.tasks.clear();
        inner.attempts += 1;
    }

    /// Attempts begun.
    pub(crate) fn attempts(&self) -> u32 {
        self.lock().attempts
    }

    pub(crate) fn status_of(&self, task: TaskId) -> Arc<TaskStatus> {
        let status = Arc::new(TaskStatus::default());
        self.lock().tasks.push((task, status.clone()));
        status
    }

    /// The commits of a sink: the same over all attempts.
    pub(crate) fn sink_status(&self, uid: &str, name: &str) -> Arc<SinkStatus> {
        self.lock().sinks.entry(uid.to_owned()).or_insert_with(|| Arc::new(SinkStatus::new(name))).clone()
    }

    /// Commit counters by uid and name of the sink, in the order of uids.
    pub(crate) fn commits(&self) -> Vec<(String, String, CommitCounts)> {
        let inner = self.lock();
        inner.sinks.iter().map(|(uid, status)| (uid.clone(), status.name.clone(), status.counts())).collect()
    }

    /// What sinks have lost for good: a line for each, empty if nothing is lost.
    pub(crate) fn losses(&self) -> Vec<String> {
        let inner = self.lock();
        let loss = |status: &Arc<SinkStatus>| {
            let (failed, first) = (status.counts().failed, status.first_failure()?);
            let first = first.replace('\n', "\n    ");
            Some(format!(
                "{}: {failed} committables could not be committed, their rows are LOST\n    the first: {first}",
                status.name
            ))
        };
        inner.sinks.values().filter_map(loss).collect()
    }

    pub(crate) fn checkpoint_completed(&self, id: u64, took: Duration) {
        let mut inner = self.lock();
        inner.checkpoints += 1;
        inner.last_checkpoint = Some((id, took));
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn totals(&self) -> Totals {
        let statuses: Vec<StatusSnapshot> = self.lock().tasks.iter().map(|(_, status)| status.read()).collect();
        let mut totals = Totals::default();
        for status in statuses {
            if let Some(source) = &status.report.source {
                add(&mut totals.sources, &source.name, source.rows);
                for reject in &source.rejects {
                    let key = (source.name.to_string(), reject.reason.clone(), reject.routed);
                    totals.rejects.entry(key).or_insert_with(|| (0, reject.first.clone())).0 += reject.count;
                }
                if !status.ended {
                    totals.watermark = Some(totals.watermark.map_or(status.watermark, |least| least.min(status.watermark)));
                }
            }
            for operator in &status.report.operators {
                if operator.uid.starts_with("sink/") {
                    add(&mut totals.sinks, &operator.name, operator.rows_in);
                }
                for (count, routed) in [(operator.skipped - operator.routed, false), (operator.routed, true)] {
                    if count > 0 {
                        let first = operator.first_error.clone().unwrap_or_default();
                        let key = (operator.name.to_string(), "an expression has no value".to_owned(), routed);
                        totals.rejects.entry(key).or_insert_with(|| (0, first)).0 += count;
                    }
                }
                if operator.late > 0 {
                    *totals.late.entry(operator.name.to_string()).or_default() += operator.late;
                }
                if operator.stray > 0 {
                    *totals.stray.entry(operator.name.to_string()).or_default() += operator.stray;
                }
            }
        }
        totals
    }

    /// The status line.
    fn line(&self) -> String {
        let totals = self.totals();
        let (rows_in, rows_out) = (sum(&totals.sources), sum(&totals.sinks));
        let mut line = format!(
            "{:.0} s | {} in | {} out | {}/s",
            self.started.elapsed().as_secs_f64(),
            grouped(rows_in),
            grouped(rows_out),
            grouped(rate(rows_in, self.started.elapsed()))
        );
        if let Some(watermark) = totals.watermark.filter(|&watermark| watermark > i64::MIN && watermark < i64::MAX) {
            let _ = write!(line, " | at {}", Timestamp(watermark));
        }
        let inner = self.lock();
        if let Some((id, took)) = inner.last_checkpoint {
            let _ = write!(line, " | checkpoint {id} ({} ms)", took.as_millis());
        }
        if inner.attempts > 1 {
            let _ = write!(line, " | restarts {}", inner.attempts - 1);
        }
        line
    }

    /// What was done, when all is over.
    pub(crate) fn summary(&self, job: &str, how: &str) -> String {
        let totals = self.totals();
        let elapsed = self.started.elapsed();
        let mut text = format!("{job}: {how} in {:.2} s", elapsed.as_secs_f64());
        for (name, rows) in &totals.sources {
            let _ = write!(text, "\n  {name}: {} rows read ({}/s)", grouped(*rows), grouped(rate(*rows, elapsed)));
        }
        for (name, rows) in &totals.sinks {
            let _ = write!(text, "\n  {name}: {} rows written", grouped(*rows));
        }
        for ((name, reason, routed), (count, first)) in &totals.rejects {
            let first = first.replace('\n', "\n    ");
            let what = if *routed { "to the stream of errors" } else { "skipped" };
            let _ = write!(text, "\n  {name}: {} {what}: {reason}\n    the first: {first}", grouped(*count));
        }
        for (name, count) in &totals.late {
            let _ = write!(text, "\n  {name}: {} rows came too late and were dropped", grouped(*count));
        }
        for (_, name, commits) in self.commits().iter().filter(|(.., commits)| commits.retried > 0) {
            let _ = write!(text, "\n  {name}: {} commits had to be tried again", grouped(commits.retried));
        }
        for (name, count) in &totals.stray {
            let _ = write!(text, "\n  {name}: {} changes took back a row that is not there and were dropped", grouped(*count));
        }
        let inner = self.lock();
        if let Some((_, took)) = inner.last_checkpoint {
            let plural = if inner.checkpoints == 1 { "" } else { "s" };
            let _ = write!(text, "\n  {} checkpoint{plural}, the last took {} ms", inner.checkpoints, took.as_millis());
        }
        if inner.attempts > 1 {
            let plural = if inner.attempts == 2 { "" } else { "s" };
            let _ = write!(text, "\n  {} restart{plural} (the counts are those since the last)", inner.attempts - 1);
        }
        text
    }
}

fn add(list: &mut Vec<(String, u64)>, name: &str, rows: u64) {
    match list.iter_mut().find(|(known, _)| known == name) {
        Some((_, sum)) => *sum += rows,
        None => list.push((name.to_owned(), rows)),
    }
}

fn sum(list: &[(String, u64)]) -> u64 {
    list.iter().map(|(_, rows)| rows).sum()
}

#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
fn rate(rows: u64, elapsed: Duration) -> u64 {
    (rows as f64 / elapsed.as_secs_f64().max(0.001)) as u64
}

/// `1234567` as `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The status line, redrawn on a terminal until it is dropped.
#[derive(Debug)]
pub(crate) struct Ticker {
    stop: Option<Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Ticker {
    /// Starts it when standard error is a terminal.
    pub(crate) fn start(board: Arc<Board>, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Ticker { stop: None, thread: None };
        }
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(Duration::from_millis(250)) == Err(RecvTimeoutError::Timeout) {
                let line: String = board.line().chars().take(110).collect();
                let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
            }
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        });
        Ticker { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(["0", "999", "1,000", "1,234,567"], [0, 999, 1000, 1_234_567].map(grouped).each_ref().map(String::as_str));
    }
}
