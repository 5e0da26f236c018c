//! The file source with objects of a bucket: the suite, and what only a bucket can do to it.

use millstream::connectors::file::{FileSource, read_all};
use millstream::formats::JsonFormat;
use millstream::{JobError, JobResult, Options};
use millstream_testkit::files::{Line, Lines};
use millstream_testkit::{SourceClaims, SourceContext, source_suite};

use super::bucket::Folder;
use super::job::write_bids;
use super::process::{Fixture, stderr};

pub struct Files {
    folder: Folder,
    lines: Lines,
}

impl SourceContext for Files {
    type Source = FileSource<Line, JsonFormat>;
    const NAME: &'static str = "file, s3";
    const CLAIMS: SourceClaims = SourceClaims::BOUNDED;

    fn open() -> JobResult<Self> {
        let folder = Folder::new();
        std::fs::create_dir_all(folder.path()).map_err(|error| JobError::io("no folder", &error))?;
        Ok(Files { folder, lines: Lines::default() })
    }

    fn write(&self, split: u32, rows: u32) -> JobResult<Vec<Line>> {
        self.lines.append(&self.folder.path().join(format!("split {split}.jsonl")), split, rows)
    }

    fn source(&self, _bounded: bool) -> JobResult<Self::Source> {
        FileSource::from_options(&Options::new().with("path", format!("{}/*.jsonl", self.folder.place())))
    }
}

source_suite!(Files);

/// As a table that is kept in memory.
#[test]
fn objects_are_read_as_a_whole() {
    let files = Files::open().unwrap();
    let mut expected = files.write(0, 3).unwrap();
    expected.extend(files.write(1, 2).unwrap());
    let place = format!("{}/*.jsonl", files.folder.place());
    let (stamps, rows) = read_all::<Line, _>(&place, &JsonFormat, None).unwrap().unwrap();
    assert_eq!(rows, expected);
    assert!(read_all::<Line, _>(&place, &JsonFormat, Some(&stamps)).unwrap().is_none(), "nothing has changed");
}

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

/// A store that does not answer when files are looked for may do so at the next attempt. All tries of the first one break off in the
/// middle of the list, which is so long that its head is through by then.
#[test]
fn a_store_that_does_not_answer_a_search_is_asked_again() {
    let fixture = Fixture::new(1000, 0);
    fixture.put_bids();
    for number in 0..100 {
        std::fs::write(fixture.folder("in/day=1").join(format!("other-{number}.txt")), "no bid\n").unwrap();
    }
    fixture.server.break_connections(5, 1000);
    let output = fixture.command_of(&fixture.reading("s3://data/in/*/*.jsonl", &[])).output().unwrap();
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("attempt 1 failed: source bids: cannot read `s3://data/in/*/*.jsonl`"), "{said}");
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
        ("s3://nowhere-1/in", "--replace", "NoSuchBucket"),
        ("s3://data/in/[", "--replace", "no valid pattern"),
        ("s3://data/in/day=1", "--append", "objects such as `s3://data/in/day=1` do not grow"),
    ] {
        let output = fixture.command_of(&fixture.reading(input, &[more])).output().unwrap();
        let said = stderr(&output);
        assert!(output.status.code() == Some(1) && said.contains(expected), "{input}: {said}");
        assert!(!said.contains("attempt"), "no restart cures it: {said}");
    }
    let mut command = fixture.command_of(&fixture.reading("s3://data/in/day=1", &["--replace"]));
    let said = stderr(&command.env("AWS_SECRET_ACCESS_KEY", "wrong").output().unwrap());
    assert!(said.contains("SignatureDoesNotMatch") && !said.contains("attempt"), "{said}");
}
