//! The file sink with a folder of a bucket: the suite, and what only a bucket can do to it.

use std::process::Stdio;

use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use millstream::{JobResult, Options};
use millstream_testkit::files::Row;
use millstream_testkit::{SinkClaims, SinkContext, sink_suite};

use super::bucket::Folder;
use super::job::{expected, output};
use super::process::{Fixture, stderr};

pub struct Files(Folder);

impl SinkContext for Files {
    type Row = Row;
    type Sink = FileSink<Row, JsonFormat>;
    const NAME: &'static str = "file, s3";
    const CLAIMS: SinkClaims = SinkClaims::EXACTLY_ONCE;

    fn open() -> JobResult<Self> {
        Ok(Files(Folder::new()))
    }

    fn address(&self) -> String {
        self.0.address()
    }

    fn at(address: &str) -> JobResult<Self> {
        Ok(Files(Folder::at(address)?))
    }

    fn row(&self, number: u64) -> Row {
        Row::of(number)
    }

    fn sink(&self) -> JobResult<Self::Sink> {
        // Small files: several per writer and checkpoint.
        FileSink::from_options(&Options::new().with("path", self.0.place()).with("roll_size", 5000_i64))
    }

    fn read(&self) -> JobResult<Vec<Row>> {
        Row::all_in(self.0.path())
    }
}

sink_suite!(Files);

impl Fixture {
    /// Arguments of the job with its output in the bucket.
    fn to_bucket(&self, more: &[&str]) -> Vec<String> {
        let own = ["--input", &self.setup.path("bids-*.jsonl"), "--output", "s3://data/out", "--quiet"].map(str::to_owned);
        own.into_iter().chain(more.iter().map(|&arg| arg.to_owned())).collect()
    }

    fn check_bucket(&self) {
        let mut found = output(&self.folder("out"));
        found.sort();
        assert_eq!(found, expected(0..self.setup.bids));
        assert!(self.folder("out/_SUCCESS").exists());
        assert_eq!(self.server.pending_uploads(), 0, "uploads are left");
        let left = super::job::hidden(&self.folder("out"));
        let markers = |name: &String| std::fs::read_dir(self.folder("out").join(name)).into_iter().flatten().next().is_some();
        assert!(!left.iter().any(markers), "markers are left: {left:?}");
    }
}

/// State and rows in the bucket; some kills fall between a checkpoint and its commit.
#[test]
fn killed_at_any_moment_and_started_again() {
    let fixture = Fixture::new(20_000, 3);
    let args = fixture.to_bucket(&[
        "--checkpoint-dir",
        "s3://data/checkpoints",
        "--checkpoint-interval",
        "40ms",
        "--rate",
        "10000",
        "--parallelism",
        "2",
    ]);
    let kills = fixture.kill_until_it_ends(&args, 900, || output(&fixture.folder("out")));
    assert!(kills > 2, "it was killed {kills} times only");
    fixture.check_bucket();
}

/// The answer to a completion is lost again and again: it is the object that counts.
#[test]
fn completions_whose_answers_are_lost_lose_and_double_nothing() {
    let fixture = Fixture::new(20_000, 1);
    let args = fixture.to_bucket(&[
        "--checkpoint-dir",
        &fixture.setup.path("checkpoints"),
        "--checkpoint-interval",
        "30ms",
        "--rate",
        "8000",
    ]);
    let mut child = fixture.command_of(&args).spawn().unwrap();
    let broken = || fixture.server.broken();
    while broken() < 12 && child.try_wait().unwrap().is_none() {
        fixture.server.break_connections(1, 0);
        std::thread::sleep(std::time::Duration::from_millis(150));
    }
    fixture.server.break_connections(0, 0);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(broken() > 5, "only {} connections broke", broken());
    fixture.check_bucket();
}

/// What exists is refused, or replaced, as in a local folder.
#[test]
fn what_exists_is_refused_or_replaced() {
    let fixture = Fixture::new(1000, 1);
    assert!(fixture.command_of(&fixture.to_bucket(&[])).status().unwrap().success());
    let output = fixture.command_of(&fixture.to_bucket(&[])).output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the output folder `s3://data/out` already holds files (`s3://data/out/"), "{said}");
    assert!(fixture.command_of(&fixture.to_bucket(&["--replace"])).stderr(Stdio::null()).status().unwrap().success());
    fixture.check_bucket();
}
