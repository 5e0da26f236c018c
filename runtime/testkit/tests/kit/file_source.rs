//! The file source: a folder of files, one split each.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use millstream::{JobError, JobResult, Options, Record};
use millstream_testkit::{SourceClaims, SourceContext, source_suite};

#[derive(Clone, Debug, PartialEq, Record)]
pub struct Line {
    pub split: i64,
    pub number: i64,
    pub text: millstream::value::Str,
}

/// A folder of JSON lines.
pub struct Folder {
    folder: tempfile::TempDir,
    numbers: AtomicU64,
}

impl Folder {
    pub fn open() -> JobResult<Self> {
        let folder = tempfile::tempdir().map_err(|error| JobError::io("no temporary folder", &error))?;
        Ok(Folder { folder, numbers: AtomicU64::new(0) })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// New lines, with numbers that were not used before, and the same as text.
    pub fn lines(&self, split: u32, rows: u32) -> (Vec<Line>, String) {
        let mut text = String::new();
        let mut lines = Vec::new();
        for _ in 0..rows {
            let number = i64::try_from(self.numbers.fetch_add(1, SeqCst)).unwrap_or(i64::MAX);
            let line = Line { split: i64::from(split), number, text: format!("row \"{number}\" of {split} ü").into() };
            text.push_str(&format!("{{\"split\":{split},\"number\":{number},\"text\":\"row \\\"{number}\\\" of {split} ü\"}}\n"));
            lines.push(line);
        }
        (lines, text)
    }

    /// Adds lines to a file.
    pub fn append(&self, split: u32, rows: u32) -> JobResult<Vec<Line>> {
        self.append_to(&format!("split {split}.jsonl"), split, rows)
    }

    /// Adds lines to the file of this name.
    pub fn append_to(&self, name: &str, split: u32, rows: u32) -> JobResult<Vec<Line>> {
        let (lines, text) = self.lines(split, rows);
        let path = self.path(name);
        let file = std::fs::File::options().create(true).append(true).open(path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| JobError::io("cannot write", &error))?;
        Ok(lines)
    }
}

pub struct Files(Folder);

impl SourceContext for Files {
    type Source = FileSource<Line, JsonFormat>;
    const NAME: &'static str = "file";
    const CLAIMS: SourceClaims = SourceClaims::BOUNDED;

    fn open() -> JobResult<Self> {
        Ok(Files(Folder::open()?))
    }

    fn write(&self, split: u32, rows: u32) -> JobResult<Vec<Line>> {
        self.0.append(split, rows)
    }

    fn source(&self, _bounded: bool) -> JobResult<Self::Source> {
        FileSource::from_options(&Options::new().with("path", self.0.path("*.jsonl").display().to_string()))
    }
}

source_suite!(Files);
