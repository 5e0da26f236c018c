//! The file source with objects of a bucket: the suite, and what only a bucket can do to it.

use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use millstream::{JobError, JobResult, Options, Record};
use millstream_testkit::{SourceClaims, SourceContext, source_suite};

use super::bucket::Folder;
use super::job::write_bids;
use super::process::{Fixture, stderr};

#[derive(Clone, Debug, PartialEq, Record)]
pub struct Line {
    pub split: i64,
    pub number: i64,
    pub text: millstream::value::Str,
}

pub struct Files {
    folder: Folder,
    numbers: AtomicU64,
}

impl SourceContext for Files {
    type Source = FileSource<Line, JsonFormat>;
    const NAME: &'static str = "file, s3";
    const CLAIMS: SourceClaims = SourceClaims::BOUNDED;

    fn open() -> JobResult<Self> {
        let folder = Folder::new();
        std::fs::create_dir_all(folder.path()).map_err(|error| JobError::io("no folder", &error))?;
        Ok(Files { folder, numbers: AtomicU64::new(0) })
    }

    fn write(&self, split: u32, rows: u32) -> JobResult<Vec<Line>> {
        let mut text = String::new();
        let mut lines = Vec::new();
        for _ in 0..rows {
            let number = i64::try_from(self.numbers.fetch_add(1, SeqCst)).unwrap_or(i64::MAX);
            let line = Line { split: i64::from(split), number, text: format!("row \"{number}\" of {split} ü").into() };
            text.push_str(&format!("{{\"split\":{split},\"number\":{number},\"text\":\"row \\\"{number}\\\" of {split} ü\"}}\n"));
            lines.push(line);
        }
        let path = self.folder.path().join(format!("split {split}.jsonl"));
        let file = std::fs::File::options().create(true).append(true).open(path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| JobError::io("cannot write", &error))?;
        Ok(lines)
    }

    fn source(&self, _bounded: bool) -> JobResult<Self::Source> {
        FileSource::from_options(&Options::new().with("path", format!("{}/*.jsonl", self.folder.place())))
    }
}

source_suite!(Files);

impl Fixture {
    /// Arguments of the job with its input from the bucket.
    fn reading(&self, input: &str, more: &[&str]) -> Vec<String> {
        let own = ["--input", input, "--output", &self.setup.path("out"), "--quiet"].map(str::to_owned);
        own.into_iter().chain(more.iter().map(|&arg| arg.to_owned())).collect()
    }

    fn put_bids(&self) {
        let folder = self.folder("in/day=1");
        std::fs::create_dir_all(&folder).unwrap();
        let half = self.setup.bids / 2;
        write_bids(&folder.join("bids-0.jsonl"), 0..half);
        write_bids(&folder.join("bids-1.jsonl"), half..self.setup.bids);
        std::fs::write(folder.join(".hidden.jsonl"), "no bid\n").unwrap();
        std::fs::write(folder.join("other.txt"), "no bid\n").unwrap();
    }
}

/// Large enough for several requests and for ranges; connections break in the middle of answers.
#[test]
fn connections_that_break_lose_and_double_nothing() {
    let fixture = Fixture::new(120_000, 0);
    fixture.put_bids();
    let args = fixture.reading("s3://data/in/day=*/bids-*.jsonl", &["--parallelism", "2"]);
    fixture.server.break_connections(6, 1_000_000);
    let output = fixture.command_of(&args).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(fixture.server.broken() >= 3, "only {} connections broke", fixture.server.broken());
    fixture.check();
}

#[test]
fn killed_at_any_moment_and_started_again() {
    let fixture = Fixture::new(20_000, 0);
    fixture.put_bids();
    let place = "s3://data/checkpoints";
    let more = ["--checkpoint-dir", place, "--checkpoint-interval", "40ms", "--rate", "10000", "--parallelism", "2"];
    let args = fixture.reading("s3://data/in/*/*.jsonl", &more);
    let kills = fixture.kill_until_it_ends(&args, 900, || super::job::output(&fixture.setup.out()));
    assert!(kills > 2, "it was killed {kills} times only");
    fixture.check();
}

#[test]
fn objects_folders_and_mistakes() {
    let fixture = Fixture::new(2000, 0);
    fixture.put_bids();
    std::fs::remove_file(fixture.folder("in/day=1/other.txt")).unwrap();
    for input in ["s3://data/in/day=1", "s3://data/in/day=1/", "s3://data/in/day=1/bids-0.jsonl, s3://data/in/day=1/bids-1.jsonl"]
    {
        let output = fixture.command_of(&fixture.reading(input, &["--replace"])).output().unwrap();
        assert!(output.status.success(), "{input}: {}", stderr(&output));
        fixture.check();
    }
    for (input, more, expected) in [
        ("s3://data/in/*.csv", "--replace", "no file matches `s3://data/in/*.csv`"),
        ("s3://data/in/[", "--replace", "no valid pattern"),
        ("s3://data/in/day=1", "--append", "objects such as `s3://data/in/day=1` do not grow"),
    ] {
        let output = fixture.command_of(&fixture.reading(input, &[more])).output().unwrap();
        let said = stderr(&output);
        assert!(output.status.code() == Some(1) && said.contains(expected), "{input}: {said}");
    }
}
