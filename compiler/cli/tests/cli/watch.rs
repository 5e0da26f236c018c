//! A watched folder: files renamed into it are read once, also when the job is killed in between.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{assert_success, build, fresh_folder, root, signal, wait_for};

const FLOW: &str = r#"job watched { checkpoint: every 100ms to "checkpoints" }

record Row { id: int64, at: timestamp }

source rows: Row from file { path: "in", format: json, watch: every 50ms }
    watermark at - 1s
    idle after 1s
    align shop within 10m

sink rows into file { path: "out", format: json }

stream counts = rows | aggregate over tumbling(10s) { start: window.start, rows: count() }

sink counts into file { path: "counts", format: json }
"#;

fn start(binary: &Path) -> Child {
    let folder = binary.parent().expect("it lies in a folder");
    Command::new(binary).current_dir(folder).stderr(Stdio::piped()).spawn().expect("the pipeline starts")
}

fn kill(mut job: Child) {
    job.kill().expect("killed");
    job.wait().expect("dead");
}

/// As Ctrl-C does: it ends with a checkpoint.
fn stop(job: Child, what: &str) {
    signal(&job, "TERM");
    assert_success(&job.wait_with_output().expect("the job ends"), what);
}

/// A copy that appears under its name when it is whole.
fn move_in(file: &Path, folder: &Path) {
    let hidden = folder.join(".arriving");
    std::fs::copy(file, &hidden).expect("copied");
    std::fs::rename(hidden, folder.join(file.file_name().expect("a file"))).expect("renamed");
}

/// Three rows, a second apart, renamed into the folder as a whole.
fn drop_in(folder: &Path, number: i64) {
    let row = |id: i64| format!("{{\"id\":{id},\"at\":\"2026-01-01T00:{:02}:{:02}Z\"}}\n", id / 60, id % 60);
    let rows: String = (0..3).map(|row_of_file| row(number * 3 + row_of_file)).collect();
    let hidden = folder.join(format!("in/.rows-{number}"));
    std::fs::write(&hidden, rows).expect("written");
    std::fs::rename(&hidden, folder.join(format!("in/rows-{number}.json"))).expect("renamed");
}

/// A column of all rows below a folder, in order.
fn column(folder: &Path, name: &str) -> Vec<String> {
    let mut values = Vec::new();
    for file in std::fs::read_dir(folder).into_iter().flatten().map(|file| file.expect("a file").path()) {
        if file.extension().is_some_and(|extension| extension == "json") {
            for line in std::fs::read_to_string(&file).unwrap_or_default().lines() {
                let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
                values.push(row[name].to_string());
            }
        }
    }
    values.sort_by_key(|value| (value.len(), value.clone()));
    values
}

#[test]
fn files_renamed_in_are_read_once_across_kills() {
    let folder = fresh_folder("watch");
    std::fs::create_dir(folder.join("in")).expect("a folder");
    let flow = folder.join("watched.flow");
    std::fs::write(&flow, FLOW).expect("written");
    let binary = build(&flow, &folder);

    let mut job = start(&binary);
    for number in 0..20 {
        drop_in(&folder, number);
        std::thread::sleep(Duration::from_millis(60));
        if number % 6 == 5 {
            kill(job);
            job = start(&binary);
        }
    }
    wait_for("all files", || column(&folder.join("out"), "id").len() >= 60);
    stop(job, "a watching job that is asked to stop");

    let expected: Vec<String> = (0..60).map(|id| id.to_string()).collect();
    assert_eq!(column(&folder.join("out"), "id"), expected);
    // The last window stays open: its rows may still get company.
    assert_eq!(column(&folder.join("counts"), "rows"), ["10"; 5]);
}

/// The example: an archive, then an inbox that files arrive in, killed before, between and after them.
#[test]
fn a_hybrid_source_goes_on_with_a_watched_folder() {
    let example = root().join("examples/hybrid");
    let folder = fresh_folder("live");
    std::os::unix::fs::symlink(example.join("data"), folder.join("data")).expect("a link to the data");
    let inbox = folder.join("inbox");
    std::fs::create_dir(&inbox).expect("a folder");
    let binary = build(&example.join("live.flow"), &folder);
    let days = || column(&folder.join("out/live-days"), "day").len();

    kill(start(&binary));
    let job = start(&binary);
    // A day is complete when a flight a day later than its end has come: the archive shows all of January but the last day.
    wait_for("the archive", || days() >= 30);
    kill(job);
    let job = start(&binary);
    move_in(&example.join("data/inbox/2013-02-10.csv.gz"), &inbox);
    wait_for("the first file of the inbox", || days() >= 40);
    move_in(&example.join("data/inbox/2013-02-28.csv.gz"), &inbox);
    kill(job);
    let job = start(&binary);
    wait_for("the second file of the inbox", || days() >= 58);
    stop(job, "the live example");

    let rows = |file: &Path| -> Vec<(String, String, String)> {
        let text = std::fs::read_to_string(file).expect("a file of days");
        let rows = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        rows.map(|row| (row["day"].to_string(), row["flights"].to_string(), row["worst"].to_string())).collect()
    };
    let mut expected = rows(&example.join("expected/days.jsonl"));
    expected.retain(|(day, ..)| day.as_str() < "\"2013-02-28");
    let files = std::fs::read_dir(folder.join("out/live-days")).expect("the output").map(|file| file.expect("a file").path());
    let whole = files.filter(|file| file.extension().is_some_and(|extension| extension == "json"));
    let mut found: Vec<_> = whole.flat_map(|file| rows(&file)).collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}
