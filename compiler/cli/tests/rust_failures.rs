//! Rust of the user's own that fails at work: killed while answers are waited for, calls that are made again, and panics.

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use support::{assert_success, build, fresh_folder, signal, wait_for};

/// All rows below a folder, as they are written, in order.
fn rows(folder: &Path) -> Vec<String> {
    let mut rows = Vec::new();
    for file in std::fs::read_dir(folder).into_iter().flatten().map(|file| file.expect("a file").path()) {
        if file.extension().is_some_and(|extension| extension == "json") {
            rows.extend(std::fs::read_to_string(&file).unwrap_or_default().lines().map(str::to_owned));
        }
    }
    rows.sort_by_key(|row| (row.len(), row.clone()));
    rows
}

const ASKING: &str = r#"job asking { checkpoint: every 50ms to "checkpoints", parallelism: 1 }

use rust "ask.rs"

record Row { id: int64 }
source rows: Row from file { path: "in", format: json, watch: every 20ms }

stream answered = rows | where is_asked_for(id) | select { id, answer: ask(id) }

sink answered into file { path: "out", format: json }
"#;

const ASK: &str = r#"use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

use millstream::prelude::*;

/// How often each was asked for in this process.
static ASKED: Mutex<Option<HashMap<i64, u32>>> = Mutex::new(None);

/// Ten times the number. One in ten fails twice before it succeeds, and from 100 on there is no answer before the file `go` is there.
#[function(in_flight = 8, timeout = "10m", retries = 2, backoff = "1ms")]
pub async fn ask(id: i64) -> Result<i64, String> {
    let mut log = std::fs::OpenOptions::new().append(true).create(true).open("asked").map_err(|error| error.to_string())?;
    log.write_all(format!("{id}\n").as_bytes()).map_err(|error| error.to_string())?;
    while id >= 100 && !Path::new("go").exists() {
        sleep(Duration(5_000)).await;
    }
    let times = {
        let mut asked = ASKED.lock().map_err(|error| error.to_string())?;
        let times = asked.get_or_insert_default().entry(id).or_default();
        *times += 1;
        *times
    };
    if id % 10 == 3 && times < 3 { Err(format!("busy with {id}")) } else { Ok(id * 10) }
}

/// All but the negative ones.
#[function]
pub async fn is_asked_for(id: i64) -> bool {
    id >= 0
}
"#;

/// Rows that appear in the watched folder at once.
fn drop_in(folder: &Path, ids: std::ops::Range<i64>) {
    let text: String = ids.clone().map(|id| format!("{{\"id\":{id}}}\n")).collect();
    let hidden = folder.join(".arriving");
    std::fs::write(&hidden, text).expect("written");
    std::fs::rename(hidden, folder.join(format!("in/rows-{}.json", ids.start))).expect("renamed");
}

fn start(binary: &Path) -> Child {
    let folder = binary.parent().expect("it lies in a folder");
    Command::new(binary).current_dir(folder).stderr(Stdio::piped()).spawn().expect("the pipeline starts")
}

#[test]
fn calls_on_their_way_at_a_kill_are_made_again_and_each_row_comes_once() {
    let folder = fresh_folder("asking");
    std::fs::create_dir(folder.join("in")).expect("a folder");
    let flow = folder.join("asking.flow");
    std::fs::write(&flow, ASKING).expect("written");
    std::fs::write(folder.join("ask.rs"), ASK).expect("written");
    let binary = build(&flow, &folder);
    let out = folder.join("out");
    let asked = || {
        let mut times: BTreeMap<i64, u32> = BTreeMap::new();
        for line in std::fs::read_to_string(folder.join("asked")).unwrap_or_default().lines() {
            *times.entry(line.parse().expect("a number")).or_default() += 1;
        }
        times
    };

    let mut job = start(&binary);
    drop_in(&folder, -5..100);
    // Visible is what is behind a checkpoint.
    wait_for("the rows before the kill", || rows(&out).len() == 100);
    drop_in(&folder, 100..200);
    wait_for("calls without an answer", || asked().range(100..).count() == 8);
    job.kill().expect("killed");
    job.wait().expect("dead");

    std::fs::write(folder.join("go"), "").expect("written");
    let job = start(&binary);
    wait_for("the rows after the kill", || rows(&out).len() >= 200);
    signal(&job, "TERM");
    assert_success(&job.wait_with_output().expect("the job ends"), "a job that is asked to stop");

    let expected: Vec<String> = (0..200).map(|id| format!("{{\"id\":{id},\"answer\":{}}}", id * 10)).collect();
    assert_eq!(rows(&out), expected);
    let expected: BTreeMap<i64, u32> = (0..200)
        .map(|id| {
            let attempts = if id % 10 == 3 { 3 } else { 1 };
            // Eight were on their way.
            (id, attempts + u32::from((100..108).contains(&id)))
        })
        .collect();
    assert_eq!(asked(), expected);
}

const PANICS: &str = r#"job panics { checkpoint: every 50ms to "checkpoints", restart: fixed(2, 10ms), parallelism: 1 }

use rust "panics.rs"

source rows: Row from file { path: "rows.jsonl", format: json }

stream by_function = rows | select { id, y: by_function(id) }
stream by_async = rows | select { id, y: by_async(id) }
stream by_operator = rows | process by id ByOperator
stream by_aggregate = rows | @ttl(never) aggregate by id { id, y: by_aggregate(id) } | final

sink by_function into file { path: "out/by_function", format: json }
sink by_async into file { path: "out/by_async", format: json }
sink by_operator into file { path: "out/by_operator", format: json }
sink by_aggregate into file { path: "out/by_aggregate", format: json }
sink rows into by_sink {}
"#;

const PANICS_RS: &str = r#"use std::sync::atomic::{AtomicBool, Ordering};

use millstream::prelude::*;
use millstream::sink::{Sink, SinkContext, SinkWriter};

#[derive(Clone, Debug, Record)]
pub struct Row {
    pub id: i64,
}

#[derive(Clone, Debug, Record)]
pub struct Answer {
    pub id: i64,
    pub y: i64,
}

static DONE: AtomicBool = AtomicBool::new(false);

/// Whether it is somebody's turn to panic: once in this process, or always.
fn is_turn(who: &str) -> bool {
    let var = |name| std::env::var(name).unwrap_or_default();
    var("WHO") == who && (var("ALWAYS") == "yes" || !DONE.swap(true, Ordering::SeqCst))
}

#[function]
pub fn by_function(id: i64) -> i64 {
    if is_turn("function") {
        panic!("the function gave up"); // function
    }
    id
}

#[function]
pub async fn by_async(id: i64) -> i64 {
    sleep(Duration(1_000)).await;
    if is_turn("async") {
        panic!("the async function gave up"); // async
    }
    id
}

pub struct ByOperator;

#[operator]
impl Process for ByOperator {
    type Input = Row;
    type Output = Answer;

    fn process(&mut self, row: Row, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        if is_turn("operator") {
            let empty: Vec<i64> = Vec::new();
            let index = usize::try_from(row.id.abs()).unwrap_or_default();
            cx.emit(Answer { id: row.id, y: empty[index] }); // operator
        }
        cx.emit(Answer { id: row.id, y: row.id });
        Ok(())
    }
}

#[derive(Clone, Debug, Default, State)]
pub struct ByAggregate {
    total: i64,
}

#[aggregate]
impl Accumulator for ByAggregate {
    type Input = i64;
    type Output = i64;

    fn add(&mut self, value: i64) -> Result<(), EvalError> {
        if is_turn("aggregate") {
            panic!("the aggregate gave up"); // aggregate
        }
        self.total += value;
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
        self.total += other.total;
        Ok(())
    }

    fn finish(&self) -> Result<Option<i64>, EvalError> {
        Ok(Some(self.total))
    }
}

/// Takes rows and keeps none.
#[derive(Connector)]
pub struct BySink {}

impl SinkConnector for BySink {
    type Sink<T: Record, F: Format> = Nowhere;

    fn sink<T: Record, F: Format>(self, _: F) -> JobResult<Nowhere> {
        Ok(Nowhere)
    }
}

pub struct Nowhere;

impl<T: Record> Sink<T> for Nowhere {
    type Writer = Nowhere;

    fn writer(&self, _: &SinkContext) -> JobResult<Nowhere> {
        Ok(Nowhere)
    }
}

impl<T: Record> SinkWriter<T> for Nowhere {
    fn write(&mut self, _: T) -> JobResult<()> {
        if is_turn("sink") {
            panic!("the sink gave up"); // sink
        }
        Ok(())
    }
}
"#;

#[test]
fn a_panic_has_its_line_and_restarts_the_job_whoever_panics() {
    let folder = fresh_folder("panics");
    let flow = folder.join("panics.flow");
    std::fs::write(&flow, PANICS).expect("written");
    std::fs::write(folder.join("panics.rs"), PANICS_RS).expect("written");
    std::fs::write(folder.join("rows.jsonl"), (1..=50).map(|id| format!("{{\"id\":{id}}}\n")).collect::<String>())
        .expect("written");
    let binary = build(&flow, &folder);
    let run = |who: &str, always: &str| -> (Output, String) {
        for gone in ["out", "checkpoints"] {
            let _ = std::fs::remove_dir_all(folder.join(gone));
        }
        let output =
            Command::new(&binary).current_dir(&folder).env("WHO", who).env("ALWAYS", always).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output, said)
    };
    let expected: Vec<String> = (1..=50).map(|id| format!("{{\"id\":{id},\"y\":{id}}}")).collect();
    for who in ["function", "async", "operator", "aggregate", "sink"] {
        let (output, said) = run(who, "no");
        assert_success(&output, who);
        let line = 1 + PANICS_RS.lines().position(|line| line.ends_with(&format!("// {who}"))).expect("it is there");
        let place = format!("panics.rs:{line}:");
        let told = said.lines().find(|line| line.contains("attempt 1 failed")).unwrap_or_default();
        assert!(told.contains("panicked") && told.contains(&place), "{who} at {place}: {said}");
        for name in ["by_function", "by_async", "by_operator", "by_aggregate"] {
            assert_eq!(rows(&folder.join("out").join(name)), expected, "{who}: {name}");
        }
        // Two restarts, and no third.
        let (output, said) = run(who, "yes");
        assert!(!output.status.success() && said.contains(&place), "{who}: {said}");
        assert!(said.contains("attempt 2 failed") && !said.contains("attempt 4"), "{who}: {said}");
    }
}
