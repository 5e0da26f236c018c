//! The sender against a service that refuses, hesitates and breaks off.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use millstream_runtime::error::{ErrorKind, JobResult};
use millstream_runtime::formats::Encoder;
use millstream_runtime::sink::batching::{BatchSettings, BatchWriter};
use millstream_runtime::sink::{SinkContext, SinkWriter};
use millstream_testkit::http::{Reply, Request, serve};

use crate::sender::HttpSender;

/// What the service does with a request.
#[derive(Clone, Copy)]
enum Act {
    /// Status line and headers.
    Answer(&'static str),
    /// The same, with a body that is longer than anybody reads.
    LongAnswer(&'static str),
    Hang(Duration),
    BreakOff,
}

/// A service that acts by a script and then takes everything.
struct Service {
    url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Service {
    fn new(script: Vec<Act>) -> Self {
        Service::on(TcpListener::bind("127.0.0.1:0").unwrap(), script)
    }

    fn on(listener: TcpListener, script: Vec<Act>) -> Self {
        let url = format!("http://{}/rows?token=secret", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (seen, script) = (requests.clone(), Mutex::new(script.into_iter()));
        serve(listener, move |request| {
            let act = script.lock().unwrap().next();
            match act {
                None => {
                    seen.lock().unwrap().push(request);
                    Reply::Answer("200 OK\r\ncontent-length: 2\r\n\r\nok".to_owned())
                }
                Some(Act::Answer(head)) => Reply::LastAnswer(format!("{head}\r\ncontent-length: 9\r\n\r\nno, thank")),
                Some(Act::LongAnswer(head)) => {
                    Reply::LastAnswer(format!("{head}\r\ncontent-length: 100000\r\n\r\n{}", "x".repeat(100_000)))
                }
                Some(Act::Hang(time)) => {
                    std::thread::sleep(time);
                    Reply::BreakOff
                }
                Some(Act::BreakOff) => Reply::BreakOff,
            }
        });
        Service { url, requests }
    }

    /// Rows of requests that were answered with 200, in the order of their arrival.
    fn rows(&self) -> Vec<String> {
        self.requests.lock().unwrap().iter().flat_map(|request| request.body.lines().map(str::to_owned)).collect()
    }
}

struct Lines;

impl Encoder<u32> for Lines {
    fn header(&mut self, _out: &mut Vec<u8>) {}

    fn encode(&mut self, row: &u32, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("{{\"n\":{row}}}\n").as_bytes());
    }
}

fn writer(url: &str) -> BatchWriter<u32, Lines> {
    let mut settings = BatchSettings { batch_rows: 10, timeout: Duration::from_millis(400), ..BatchSettings::default() };
    settings.retry.first_delay = Duration::from_millis(5);
    let context = SinkContext {
        name: "rows into http".into(),
        uid: "sink/rows/http".into(),
        subtask: 0,
        parallelism: 1,
        run: "run".into(),
        first_checkpoint: 1,
        retained: 1,
        checkpoints: None,
        replace: false,
    };
    BatchWriter::new(&context, settings, Lines, HttpSender::new(url, Some("Bearer t"), settings.timeout)).unwrap()
}

/// Writes these rows and waits for them, as the engine does before a barrier.
async fn send(writer: &mut BatchWriter<u32, Lines>, rows: std::ops::Range<u32>) -> JobResult<()> {
    for row in rows {
        writer.write(row)?;
        writer.end_of_batch()?;
        std::future::poll_fn(|cx| writer.poll_ready(cx)).await?;
    }
    std::future::poll_fn(|cx| writer.poll_flush(cx)).await
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort();
    rows
}

fn expected(rows: std::ops::Range<u32>) -> Vec<String> {
    sorted(rows.map(|row| format!("{{\"n\":{row}}}")).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_arrive_as_json_lines_with_the_headers() {
    let service = Service::new(Vec::new());
    send(&mut writer(&service.url), 0..95).await.unwrap();
    assert_eq!(sorted(service.rows()), expected(0..95));
    let requests = service.requests.lock().unwrap();
    let head = &requests[0].head;
    assert!(head.starts_with("post /rows?token=secret http/1.1\r\n"), "{head}");
    assert!(head.contains("content-type: application/x-ndjson\r\n") && head.contains("authorization: bearer t\r\n"), "{head}");
    assert!(requests.iter().all(|request| request.body.lines().count() <= 10));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_time_outs_and_broken_connections_are_tried_again() {
    let service = Service::new(vec![
        Act::Answer("503 Service Unavailable"),
        Act::Answer("429 Too Many Requests\r\nretry-after: 1"),
        Act::Hang(Duration::from_millis(600)),
        Act::BreakOff,
        Act::Answer("500 Internal Server Error"),
    ]);
    let started = Instant::now();
    let mut writer = writer(&service.url);
    send(&mut writer, 0..100).await.unwrap();
    let rows = service.rows();
    let mut once = sorted(rows.clone());
    once.dedup();
    assert_eq!(once, expected(0..100), "all arrive at least once");
    assert!(started.elapsed() >= Duration::from_secs(1), "Retry-After is kept");
    assert!(writer.metrics().unwrap().send_errors > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_is_not_there_yet_is_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let late = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        Service::on(TcpListener::bind(address).unwrap(), Vec::new())
    });
    send(&mut writer(&format!("http://{address}/rows")), 0..20).await.unwrap();
    assert_eq!(sorted(late.join().unwrap().rows()), expected(0..20));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_for_good_names_status_and_answer_and_a_peer_that_stays_away_fails_the_job() {
    let service = Service::new(vec![Act::Answer("422 Unprocessable Entity")]);
    let error = send(&mut writer(&service.url), 0..5).await.unwrap_err();
    let message = error.message();
    assert!(message.ends_with("/rows: 422 Unprocessable Entity: no, thank"), "{message}");
    assert!(!message.contains("secret"), "{message}");
    assert_eq!(error.kind(), ErrorKind::Permanent);

    let service = Service::new(vec![Act::LongAnswer("400 Bad Request")]);
    let error = send(&mut writer(&service.url), 0..5).await.unwrap_err();
    let expected = format!("/rows: 400 Bad Request: {}..", "x".repeat(200));
    assert!(error.message().ends_with(&expected), "of a long answer the beginning: {error}");

    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = send(&mut writer(&format!("http://{address}/")), 0..5).await.unwrap_err();
    assert!(error.message().starts_with("rows could not be sent in 11 tries: POST http://127.0.0.1:"), "{error}");
    assert_eq!(error.kind(), ErrorKind::Transient, "a restart may help");
}
