//! Batching: when rows go, what comes back, and how the rate adapts. The queue by hand, the writer against a scripted service.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::queue::Queue;
use super::*;
use crate::formats::Encoder;
use crate::sink::{SinkContext, SinkWriter};

fn settings() -> BatchSettings {
    BatchSettings {
        batch_rows: 4,
        batch_bytes: 100,
        row_bytes: 60,
        linger: Duration::from_millis(50),
        in_flight: 2,
        buffered: 20,
        timeout: Duration::from_millis(200),
        fail_on_timeout: false,
        retry: RetryPolicy { retries: 5, first_delay: Duration::from_millis(1), longest_delay: Duration::from_millis(4) },
    }
}

fn entry(text: &str) -> Entry {
    Entry { block: Arc::new(text.as_bytes().to_vec()), start: 0, end: text.len() }
}

fn texts(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(|entry| String::from_utf8_lossy(entry.bytes()).into_owned()).collect()
}

fn retry(entries: Option<&[usize]>) -> SendOutcome {
    SendOutcome::Retry { entries: entries.map(<[usize]>::to_vec), reason: "busy".into(), after: None }
}

struct Rows(Queue, Instant);

impl Rows {
    fn new() -> Self {
        Rows(Queue::new(settings()), Instant::now())
    }

    fn push(&mut self, rows: &[&str]) {
        self.0.push(rows.iter().map(|row| entry(row)), self.1);
    }

    fn after(&mut self, millis: u64) {
        self.1 += Duration::from_millis(millis);
    }

    fn take(&mut self) -> Option<(u64, Vec<String>)> {
        self.0.take(self.1).map(|(request, entries)| (request, texts(&entries)))
    }

    fn done(&mut self, request: u64, outcome: SendOutcome) -> JobResult<usize> {
        self.0.done(request, outcome, self.1)
    }
}

fn batch(request: u64, rows: &[&str]) -> Option<(u64, Vec<String>)> {
    Some((request, rows.iter().map(|row| (*row).to_owned()).collect()))
}

#[test]
fn a_batch_goes_by_count_by_bytes_by_time_and_at_a_flush() {
    let mut rows = Rows::new();
    rows.push(&["a", "b", "c"]);
    assert_eq!(rows.take(), None);
    rows.push(&["d", "e"]);
    assert_eq!(rows.take(), batch(0, &["a", "b", "c", "d"]), "by count");
    rows.done(0, SendOutcome::Sent).unwrap();
    assert_eq!(rows.take(), None);
    rows.after(50);
    assert_eq!(rows.take(), batch(1, &["e"]), "by time");
    rows.done(1, SendOutcome::Sent).unwrap();
    let large = "x".repeat(60);
    rows.push(&[&large, &large]);
    assert_eq!(rows.take(), batch(2, &[&large]), "by bytes, and no more than fit");
    rows.done(2, SendOutcome::Sent).unwrap();
    assert_eq!(rows.take(), None);
    rows.0.drain();
    assert_eq!(rows.take(), batch(3, &[&large]), "at a flush");
}

#[test]
fn rows_that_come_back_go_first_in_their_old_order() {
    for first_back in [0, 1] {
        let mut rows = Rows::new();
        rows.push(&["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
        assert_eq!(rows.take(), batch(0, &["0", "1", "2", "3"]));
        assert_eq!(rows.take(), batch(1, &["4", "5", "6", "7"]));
        assert_eq!(rows.take(), None, "two requests at a time");
        for request in [first_back, 1 - first_back] {
            let outcome = if request == 0 { retry(Some(&[1, 3])) } else { retry(None) };
            rows.done(request, outcome).unwrap();
        }
        assert_eq!(rows.take(), None, "not before the pause is over");
        rows.after(10);
        // The limit of 8 rows was halved twice.
        assert_eq!(rows.take(), batch(2, &["1", "3"]), "request {first_back} came back first");
        rows.done(2, SendOutcome::Sent).unwrap();
        assert_eq!(rows.take(), batch(3, &["4", "5", "6", "7"]));
        rows.done(3, SendOutcome::Sent).unwrap();
        rows.0.drain();
        assert_eq!(rows.take(), batch(4, &["8", "9"]));
    }
}

#[test]
fn the_rate_halves_on_failures_and_grows_on_success() {
    let mut rows = Rows::new();
    let mut limits = vec![rows.0.limit()];
    let mut step = |rows: &mut Rows, outcome: SendOutcome| {
        rows.push(&["a", "b", "c", "d"]);
        rows.after(100);
        let (request, _) = rows.take().unwrap();
        rows.done(request, outcome).unwrap();
        limits.push(rows.0.limit());
    };
    for _ in 0..4 {
        step(&mut rows, retry(Some(&[0])));
    }
    step(&mut rows, SendOutcome::Sent);
    assert_eq!(limits, [8, 4, 2, 1, 1, 8]);
}

#[test]
fn a_row_that_never_arrives_fails_the_job() {
    let mut rows = Rows::new();
    rows.push(&["a", "b", "c", "d"]);
    for _ in 0..5 {
        rows.after(10);
        let (request, _) = rows.take().unwrap();
        rows.done(request, retry(Some(&[0]))).unwrap();
    }
    rows.after(10);
    let (request, again) = rows.take().unwrap();
    assert_eq!(again, ["a"]);
    let error = rows.done(request, retry(None)).unwrap_err();
    assert_eq!(error.message(), "rows could not be sent in 6 tries: busy");
}

#[test]
fn an_answer_that_comes_twice_counts_once() {
    let mut rows = Rows::new();
    rows.push(&["a", "b", "c", "d"]);
    rows.take().unwrap();
    assert_eq!(rows.done(0, retry(None)).unwrap(), 4);
    assert_eq!(rows.done(0, SendOutcome::Sent).unwrap(), 0);
    assert_eq!(rows.0.outstanding(), 4, "they still have to go");
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let refused = |settings: BatchSettings| settings.check().unwrap_err().message().to_owned();
    assert!(refused(BatchSettings { buffered: 4, ..settings() }).contains("must be larger than a batch of 4"));
    assert!(refused(BatchSettings { batch_bytes: 59, ..settings() }).contains("must have room for the largest row"));
    assert_eq!(BatchSettings::default().check(), Ok(()));
}

struct Lines;

impl Encoder<String> for Lines {
    fn header(&mut self, _out: &mut Vec<u8>) {}

    fn encode(&mut self, row: &String, out: &mut Vec<u8>) {
        out.extend_from_slice(row.as_bytes());
    }
}

/// Answers with what is scripted, then takes everything.
#[derive(Clone, Default)]
struct Service {
    script: Arc<Mutex<VecDeque<SendOutcome>>>,
    taken: Arc<Mutex<Vec<String>>>,
    hangs: Arc<Mutex<u32>>,
}

impl BatchSender for Service {
    fn send(&self, batch: Arc<[Entry]>) -> Sending {
        let service = self.clone();
        Box::pin(async move {
            let hangs = {
                let mut left = service.hangs.lock().unwrap();
                let hangs = *left > 0;
                *left = left.saturating_sub(1);
                hangs
            };
            if hangs {
                std::future::pending::<()>().await;
            }
            let outcome = service.script.lock().unwrap().pop_front().unwrap_or(SendOutcome::Sent);
            let rows = texts(&batch);
            let mut taken = service.taken.lock().unwrap();
            match &outcome {
                SendOutcome::Sent => taken.extend(rows),
                SendOutcome::Retry { entries: Some(entries), .. } => {
                    taken.extend(rows.into_iter().enumerate().filter(|(place, _)| !entries.contains(place)).map(|(_, row)| row));
                }
                _ => {}
            }
            outcome
        })
    }
}

fn writer(service: &Service) -> BatchWriter<String, Lines> {
    let context = SinkContext {
        name: "rows".into(),
        uid: "sink/rows/test".into(),
        subtask: 0,
        parallelism: 1,
        run: "run".into(),
        first_checkpoint: 1,
        retained: 1,
        checkpoints: None,
        replace: false,
    };
    BatchWriter::new(&context, settings(), Lines, service.clone()).unwrap()
}

async fn write(writer: &mut BatchWriter<String, Lines>, rows: std::ops::Range<u32>) -> JobResult<()> {
    for row in rows {
        writer.write(format!("{row:03}"))?;
        writer.end_of_batch()?;
        std::future::poll_fn(|cx| writer.poll_ready(cx)).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_flush_waits_for_everything_and_all_rows_arrive() {
    let service = Service::default();
    service.script.lock().unwrap().extend([retry(None), retry(Some(&[0, 2])), SendOutcome::Sent, retry(Some(&[1]))]);
    *service.hangs.lock().unwrap() = 1;
    let mut writer = writer(&service);
    write(&mut writer, 0..50).await.unwrap();
    std::future::poll_fn(|cx| writer.poll_flush(cx)).await.unwrap();
    let mut taken = service.taken.lock().unwrap().clone();
    taken.sort();
    let expected: Vec<_> = (0..50).map(|row| format!("{row:03}")).collect();
    assert_eq!(taken, expected);
    let metrics = writer.metrics().unwrap();
    assert_eq!(metrics.pending, 0);
    assert_eq!(metrics.records_sent, 50 + metrics.send_errors, "sends that failed are counted again");
}

#[tokio::test]
async fn a_refusal_reaches_the_task_and_a_row_that_is_too_large_is_named() {
    let service = Service::default();
    service.script.lock().unwrap().push_back(SendOutcome::Failed(JobError::new("400 Bad Request")));
    let mut refused = writer(&service);
    refused.write("a".into()).unwrap();
    let error = std::future::poll_fn(|cx| refused.poll_flush(cx)).await.unwrap_err();
    assert_eq!(error.message(), "400 Bad Request");
    let mut writer = writer(&service);
    let error = writer.write("b".repeat(61)).unwrap_err();
    assert!(error.message().starts_with("a row has 61 bytes, and at most 60 can be sent: bbb"), "{error}");
}

/// A service that does not answer: the buffer fills up, and then the task is told to wait.
#[tokio::test]
async fn a_full_buffer_is_backpressure() {
    let service = Service::default();
    *service.hangs.lock().unwrap() = u32::MAX;
    let mut writer = writer(&service);
    let written = tokio::time::timeout(Duration::from_millis(100), write(&mut writer, 0..100)).await;
    assert!(written.is_err(), "it waits");
    assert_eq!(writer.metrics().unwrap().pending, 20);
}
