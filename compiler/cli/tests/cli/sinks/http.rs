//! The sink `http`: a service that refuses, hesitates, is away; a job that is killed. Every row arrives at least once.

use std::collections::{BTreeSet, VecDeque};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use millstream_testkit::http::{Reply, Request, serve};

use super::{Job, Kill, number, stderr, support};

static JOB: LazyLock<Job> = LazyLock::new(|| {
    let sink = "http { url: $ROWS_URL, authorization: $ROWS_TOKEN, format: json, batch: 100, timeout: 500ms, flush_after: 50ms }\n\n\
                sink rows into file { path: out, format: json }";
    Job::build("to_http", sink, 5000)
});

/// What the service does with a request that it does not take.
enum Act {
    Answer(&'static str),
    Hang,
}

#[derive(Default)]
struct State {
    script: VecDeque<Act>,
    /// After so many requests everything is refused.
    broken_after: Option<usize>,
    /// Nothing is answered.
    hangs: bool,
    /// So many were not.
    hung: usize,
    requests: usize,
    taken: Vec<u64>,
}

struct Service {
    url: String,
    state: Arc<Mutex<State>>,
}

impl Service {
    fn start(script: Vec<Act>, broken_after: Option<usize>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/rows", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State { script: script.into(), broken_after, ..State::default() }));
        let shared = state.clone();
        serve(listener, move |request| reply(&request, &shared));
        Service { url, state }
    }

    fn taken(&self) -> Vec<u64> {
        self.state.lock().unwrap().taken.clone()
    }

    fn assert_all_arrived(&self, what: &str) {
        let taken: BTreeSet<u64> = self.taken().into_iter().collect();
        assert!(taken.iter().copied().eq(0..JOB.rows), "{what}: {} of {} rows", taken.len(), JOB.rows);
    }
}

fn reply(request: &Request, state: &Mutex<State>) -> Reply {
    let mut state = state.lock().unwrap();
    state.requests += 1;
    let broken = state.broken_after.is_some_and(|most| state.requests > most);
    let act = match (broken, state.hangs) {
        (true, _) => Some(Act::Answer("400 Bad Request")),
        (_, true) => Some(Act::Hang),
        _ => state.script.pop_front(),
    };
    match act {
        None => {
            assert!(request.head.contains("authorization: bearer t\r\n"), "{}", request.head);
            state.taken.extend(request.body.lines().map(number));
            Reply::Answer("204 No Content\r\n\r\n".to_owned())
        }
        Some(Act::Answer(status)) => Reply::Answer(format!("{status}\r\ncontent-length: 14\r\n\r\nno such column")),
        Some(Act::Hang) => {
            state.hung += 1;
            drop(state);
            std::thread::sleep(Duration::from_secs(1));
            Reply::BreakOff
        }
    }
}

fn command(service: &Service, args: &[&str]) -> std::process::Command {
    let mut command = JOB.command(args);
    command.env("ROWS_URL", &service.url).env("ROWS_TOKEN", "Bearer t");
    command
}

#[test]
fn a_service_that_is_busy_or_slow_gets_every_row() {
    let service = Service::start(
        vec![
            Act::Answer("503 Service Unavailable"),
            Act::Hang,
            Act::Answer("429 Too Many Requests\r\nretry-after: 1"),
            Act::Answer("500 Internal Server Error"),
        ],
        None,
    );
    let output = command(&service, &["--out", "busy"]).output().unwrap();
    support::assert_success(&output, "a busy service");
    service.assert_all_arrived("a busy service");
    assert!(stderr(&output).contains("rows are sent again: POST http://127.0.0.1:"), "{}", stderr(&output));
}

/// C66: the service refuses in the middle of the run. Nothing is skipped when it takes rows again.
#[test]
fn a_refusal_ends_the_job_and_the_next_start_skips_nothing() {
    let checkpoints = JOB.folder.join("refused-checkpoints");
    let args = [
        "--rate",
        "4000",
        "--checkpoint-interval",
        "50ms",
        "--checkpoint-dir",
        checkpoints.to_str().unwrap(),
        "--out",
        "refused",
    ];
    let service = Service::start(Vec::new(), Some(12));
    let output = command(&service, &args).output().unwrap();
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("/rows: 400 Bad Request: no such column"), "{message}");
    let before = service.taken().len();
    assert!(before > 0 && before < 5000, "{before}");
    service.state.lock().unwrap().broken_after = None;
    let output = command(&service, &args).output().unwrap();
    support::assert_success(&output, "once it takes rows again");
    assert!(stderr(&output).contains("resuming from checkpoint"), "{}", stderr(&output));
    service.assert_all_arrived("after a refusal");
}

#[test]
fn a_job_that_is_killed_sends_every_row_at_least_once() {
    let checkpoints = JOB.folder.join("killed-checkpoints");
    let args =
        ["--rate", "2000", "--checkpoint-interval", "50ms", "--checkpoint-dir", checkpoints.to_str().unwrap(), "--out", "killed"];
    let service = Service::start(Vec::new(), None);
    let taken_up = || std::fs::read_dir(&checkpoints).into_iter().flatten().flatten().map(|entry| entry.path());
    for millis in [100, 250, 0] {
        let before = taken_up().max();
        let mut child = Kill(command(&service, &args).spawn().unwrap());
        support::wait_for("a checkpoint", || taken_up().any(|path| path.join("manifest.json").is_file() && Some(path) > before));
        std::thread::sleep(Duration::from_millis(millis));
        child.0.kill().unwrap();
    }
    let output = command(&service, &args).output().unwrap();
    support::assert_success(&output, "after three kills");
    assert!(stderr(&output).contains("resuming from checkpoint"), "it began anew: {}", stderr(&output));
    service.assert_all_arrived("after three kills");
}

/// C72: a signal while a sink waits for an answer that does not come. The last checkpoint waits for that, too.
#[test]
fn a_stop_while_nobody_answers_ends_in_time_and_every_row_counts_once() {
    let (checkpoints, out) = (JOB.folder.join("hanging-checkpoints"), JOB.folder.join("hanging"));
    let args = [
        "--rate",
        "4000",
        "--checkpoint-interval",
        "50ms",
        "--checkpoint-dir",
        checkpoints.to_str().unwrap(),
        "--out",
        "hanging",
    ];
    let service = Service::start(Vec::new(), None);
    let hung = || service.state.lock().unwrap().hung;
    // Started, and stuck.
    let stuck = |more: &[&str]| {
        let before = hung();
        let mut child = Kill(command(&service, &[&args[..], more].concat()).spawn().unwrap());
        support::wait_for("rows", || more.contains(&"--stop-timeout") || service.taken().len() > 200);
        service.state.lock().unwrap().hangs = true;
        support::wait_for("a request that is not answered", || hung() > before);
        let messages = BufReader::new(child.0.stderr.take().unwrap()).lines().map(Result::unwrap);
        (child, messages)
    };

    let (mut child, mut messages) = stuck(&[]);
    support::signal(&child.0, "TERM");
    assert!(messages.any(|line| line.contains("stopping with a last checkpoint; once more to stop at once")));
    assert_eq!(child.0.try_wait().unwrap(), None, "it has no last checkpoint");
    support::signal(&child.0, "TERM");
    assert!(messages.any(|line| line.contains("stopped at once: the next start goes on from the last complete checkpoint")));
    assert_eq!(child.0.wait().unwrap().code(), Some(143));

    let (mut child, mut messages) = stuck(&["--stop-timeout", "300ms"]);
    support::signal(&child.0, "TERM");
    assert!(
        messages.any(|line| line.contains("the last checkpoint took longer than 300ms: the next start goes on from the last"))
    );
    assert_eq!(child.0.wait().unwrap().code(), Some(124));

    service.state.lock().unwrap().hangs = false;
    let output = command(&service, &args).output().unwrap();
    support::assert_success(&output, "once it answers");
    service.assert_all_arrived("after it did not answer");
    JOB.assert_all_once(&out, "beside a service that did not answer");
}

#[test]
fn an_address_that_is_none_and_a_service_that_is_away_are_said() {
    let mut nowhere = JOB.command(&[]);
    let output = nowhere.env("ROWS_URL", "ftp://x").env("ROWS_TOKEN", "").output().unwrap();
    assert!(
        stderr(&output).contains("takes an address such as `https://example.com/rows`, not `ftp://x`"),
        "{}",
        stderr(&output)
    );
    assert_eq!(output.status.code(), Some(1));
}
