//! Rust of the user's own that fails at work: killed while answers are waited for, calls that are made again, and panics.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::support::{assert_success, build, fresh_folder, signal, wait_for};

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
