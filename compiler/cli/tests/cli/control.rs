//! Running jobs asked from outside, with real processes: listed, saved, stopped in every way, told apart, interrupted.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;

use crate::support::{self, compare, signal, wait_for};

const ROWS: usize = 40_000;

/// Slow enough that it is still running when it is asked; `--rate` makes it fast.
const FLOW: &str = r#"
job numbers { parallelism: 2 }

param rate: int32 = 4_000

source numbers: { id: int64, at: timestamp } from file { path: "numbers.jsonl", format: json, rate: rate }

stream counted =
    numbers
    | watermark at - 1s
    | aggregate over tumbling(1m) { minute: window.start, rows: count(), sum: sum(id) }

sink counted into file { path: "out", format: json }
"#;

/// Built once for all tests.
fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let folder = support::fresh_folder("control");
        let flow = folder.join("numbers.flow");
        std::fs::write(&flow, FLOW).expect("the pipeline can be written");
        support::build(&flow, &folder)
    })
}

/// A folder of its own for the job, with its socket, whose path must be short.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let text: String = (0..ROWS).map(|id| format!("{{\"id\":{id},\"at\":\"{}\"}}\n", time(id))).collect();
        std::fs::write(folder.path().join("numbers.jsonl"), text).expect("the input can be written");
        Place { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn start(&self, args: &[&str]) -> Job {
        let child = Command::new(binary())
            .args(args)
            .current_dir(self.folder.path())
            .env("MILLSTREAM_RUN_DIR", self.path("run"))
            .stderr(Stdio::piped())
            .spawn()
            .expect("the pipeline starts");
        Job { child }
    }

    /// Started, and seen as running.
    fn running(&self, args: &[&str]) -> Job {
        let job = self.start(args);
        let pid = job.child.id().to_string();
        wait_for("the job in the list", || {
            let jobs = text(&self.millstream(&["jobs"]));
            jobs.lines().any(|line| line.contains(&pid) && line.contains(" running "))
        });
        job
    }

    fn millstream(&self, args: &[&str]) -> Output {
        let mut command = support::millstream();
        command.args(args).current_dir(self.folder.path()).env("MILLSTREAM_RUN_DIR", self.path("run"));
        command.output().expect("millstream starts")
    }

    /// To the end, fast; then the output is whole.
    fn finish(&self, args: &[&str]) {
        let (status, messages) = self.start(&[args, &["--rate", "1000000000"]].concat()).end();
        assert!(status.success(), "{status}: {messages}");
        self.check();
    }

    fn check(&self) {
        let columns = vec![("minute".to_owned(), "TIMESTAMP".to_owned()), ("sum".to_owned(), "BIGINT".to_owned())];
        let mut rows = Vec::new();
        for row in compare::read(&self.path("out"), &columns).keys() {
            rows.push(row.clone());
        }
        assert_eq!(rows.len(), ROWS.div_ceil(60), "{rows:?}");
        let sums: usize = rows.iter().filter_map(|row| row.split(" | ").nth(1)?.parse::<usize>().ok()).sum();
        assert_eq!(sums, ROWS * (ROWS - 1) / 2);
    }

    fn sockets(&self) -> usize {
        std::fs::read_dir(self.path("run")).expect("the folder of sockets").count()
    }
}

/// One row a second.
fn time(id: usize) -> String {
    format!("2026-01-01T{:02}:{:02}:{:02}Z", id / 3600 % 24, id / 60 % 60, id % 60)
}

/// Killed when a test fails.
struct Job {
    child: Child,
}

impl Job {
    fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// How it ended, and what it said.
    fn end(mut self) -> (ExitStatus, String) {
        let mut messages = String::new();
        let mut errors = self.child.stderr.take().expect("its messages");
        std::io::Read::read_to_string(&mut errors, &mut messages).expect("UTF-8");
        (self.child.wait().expect("its end"), messages)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

fn errors(output: &Output) -> String {
    assert!(!output.status.success(), "it should have failed: {}", text(output));
    String::from_utf8_lossy(&output.stderr).trim_end().to_owned()
}

#[test]
fn stopped_by_name_it_goes_on_from_there() {
    let place = Place::new();
    let checkpoints = ["--checkpoint-dir", "checkpoints"];
    let job = place.running(&checkpoints);
    support::assert_success(&place.millstream(&["stop", "numbers"]), "stop");
    let (status, messages) = job.end();
    assert!(status.success() && messages.contains("stopped with a checkpoint"), "{status}: {messages}");
    assert_eq!(place.sockets(), 0);
    let again = errors(&place.millstream(&["stop", "numbers"]));
    assert!(again.contains("no job is running"), "{again}");
    place.finish(&checkpoints);
}

#[test]
fn a_savepoint_outlives_its_job_and_is_gone_on_from() {
    let place = Place::new();
    let job = place.running(&["--checkpoint-dir", "checkpoints"]);
    // Named by its directory of checkpoints, and a path that is the caller's.
    let taken = place.millstream(&["savepoint", "./checkpoints", "--to", "saved"]);
    support::assert_success(&taken, "savepoint");
    let savepoint = text(&taken);
    assert!(savepoint.ends_with("/saved/savepoint-numbers-000001"), "{savepoint}");
    let stopped = place.millstream(&["stop", "numbers", "--to", "saved"]);
    support::assert_success(&stopped, "stop");
    assert!(text(&stopped).ends_with("/saved/savepoint-numbers-000002"), "{}", text(&stopped));
    assert!(job.end().0.success());
    std::fs::remove_dir_all(place.path("checkpoints")).expect("the checkpoints can be removed");

    // They can be looked into: all, one, and one that was moved.
    let listed = place.millstream(&["state", "ls", "saved"]);
    support::assert_success(&listed, "state ls");
    assert!(
        text(&listed).contains("saved/savepoint-numbers-000001") && text(&listed).contains("checkpoint 2\n"),
        "{}",
        text(&listed)
    );
    let moved = place.path("moved").join("elsewhere");
    std::fs::create_dir_all(place.path("moved")).expect("a folder");
    std::fs::rename(&savepoint, &moved).expect("moved");
    for (folder, number) in [(moved.to_str().expect("UTF-8"), 1), (&*text(&stopped), 2)] {
        let listed = place.millstream(&["state", "ls", folder]);
        support::assert_success(&listed, "state ls");
        assert!(text(&listed).contains(&format!("job numbers, checkpoint {number}\n")), "{}", text(&listed));
    }
    std::fs::rename(&moved, &savepoint).expect("moved back");

    let (status, messages) = place.start(&["--from", "saved"]).end();
    assert!(!status.success() && messages.contains("savepoint-numbers-000001, savepoint-numbers-000002"), "{messages}");
    place.finish(&["--checkpoint-dir", "checkpoints", "--from", &text(&stopped)]);
    assert!(Path::new(&savepoint).join("manifest.json").exists() && Path::new(&text(&stopped)).join("manifest.json").exists());
}

#[test]
fn drained_it_is_done() {
    let place = Place::new();
    let job = place.running(&["--checkpoint-dir", "checkpoints"]);
    let stopped = place.millstream(&["stop", "numbers", "--drain", "--to", "saved"]);
    support::assert_success(&stopped, "stop --drain");
    let (status, messages) = job.end();
    assert!(status.success() && messages.contains("done"), "{messages}");
    // The open window was written: every row that was read is counted.
    let columns = vec![("rows".to_owned(), "BIGINT".to_owned())];
    let counted = compare::read(&place.path("out"), &columns);
    let counted: i64 = counted.iter().map(|(rows, times)| rows.parse::<i64>().expect("a number") * times).sum();
    let read = messages
        .lines()
        .find_map(|line| line.trim().strip_prefix("numbers: ")?.split(" rows read").next()?.replace(',', "").parse().ok());
    assert_eq!(Some(counted), read, "{messages}");
    // There is nothing to go on with: its windows would come out a second time, with the rest of their rows.
    let drained = text(&stopped);
    let (status, messages) = place.start(&["--checkpoint-dir", "checkpoints", "--from", &drained]).end();
    assert_eq!(status.code(), Some(1), "{messages}");
    assert!(messages.contains(&drained) && messages.contains("--drain") && messages.contains("--fresh"), "{messages}");
    assert_eq!(
        counted,
        compare::read(&place.path("out"), &columns)
            .iter()
            .map(|(rows, times)| rows.parse::<i64>().expect("a number") * times)
            .sum::<i64>()
    );
}

#[test]
fn a_job_without_checkpoints_is_not_stopped_by_mistake() {
    let place = Place::new();
    let job = place.running(&[]);
    let refused = errors(&place.millstream(&["stop", "numbers"]));
    assert!(refused.contains("stores no checkpoints") && refused.contains("--drain"), "{refused}");
    let refused = errors(&place.millstream(&["savepoint", "numbers"]));
    assert!(refused.contains("--to DIRECTORY"), "{refused}");
    // Where something is in the way nothing stops.
    let refused = errors(&place.millstream(&["stop", "numbers", "--to", "numbers.jsonl/x"]));
    assert!(refused.contains("cannot write a savepoint") && refused.contains("goes on"), "{refused}");
    // A bucket that is misspelled is no folder, neither here nor where the job is.
    for command in ["savepoint", "stop"] {
        let refused = errors(&place.millstream(&[command, "numbers", "--to", "s3:/bucket/saved"]));
        assert!(refused.contains("`s3:/bucket/saved` is no place that is known: did you mean `s3://bucket/saved`?"), "{refused}");
        assert!(!place.path("s3:").exists(), "{command}");
    }
    let stopped = place.millstream(&["stop", "numbers", "--to", "saved"]);
    support::assert_success(&stopped, "stop --to");
    assert!(job.end().0.success());
    place.finish(&["--from", &text(&stopped)]);
}

#[test]
fn killed_ones_leave_no_trace_and_equal_names_are_told_apart() {
    let (place, other) = (Place::new(), Place::new());
    let killed = place.running(&["--checkpoint-dir", "checkpoints"]);
    signal(&killed.child, "KILL");
    killed.end();
    assert_eq!(place.sockets(), 1, "nobody has looked yet");
    assert_eq!(text(&place.millstream(&["jobs"])), "");
    assert_eq!(place.sockets(), 0);

    let first = place.running(&["--checkpoint-dir", "checkpoints"]);
    let second = Job {
        child: Command::new(binary())
            .args(["--checkpoint-dir", "checkpoints"])
            .current_dir(other.folder.path())
            .env("MILLSTREAM_RUN_DIR", place.path("run"))
            .stderr(Stdio::piped())
            .spawn()
            .expect("the pipeline starts"),
    };
    let pid = second.pid();
    wait_for("the second job", || text(&place.millstream(&["jobs", "--json"])).contains(&format!("\"pid\":{pid}")));
    let unclear = errors(&place.millstream(&["stop", "numbers"]));
    assert!(unclear.contains("2 running jobs") && unclear.contains(&pid) && unclear.contains(&first.pid()), "{unclear}");
    support::assert_success(&place.millstream(&["stop", &pid, "--kill"]), "stop --kill");
    assert_eq!(second.end().0.code(), Some(137));
    support::assert_success(&place.millstream(&["stop", "numbers"]), "stop");
    assert!(first.end().0.success());
    place.finish(&["--checkpoint-dir", "checkpoints"]);
}

#[test]
fn signals_end_it_in_time() {
    let place = Place::new();
    let checkpoints = ["--checkpoint-dir", "checkpoints"];
    let job = place.running(&checkpoints);
    signal(&job.child, "INT");
    assert!(job.end().0.success());
    // A limit that no checkpoint can keep.
    let job = place.running(&["--checkpoint-dir", "checkpoints", "--stop-timeout", "1us"]);
    signal(&job.child, "TERM");
    let (status, messages) = job.end();
    assert!(status.code() == Some(124) && messages.contains("took longer than 1µs"), "{status}: {messages}");
    place.finish(&checkpoints);
}
