//! The file source: a folder of files, one split each.

use std::path::PathBuf;

use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use millstream::{JobError, JobResult, Options};
use millstream_testkit::files::{Line, Lines};
use millstream_testkit::{SourceClaims, SourceContext, source_suite};

/// A folder of JSON lines.
pub struct Folder {
    folder: tempfile::TempDir,
    lines: Lines,
}

impl Folder {
    pub fn open() -> JobResult<Self> {
        let folder = tempfile::tempdir().map_err(|error| JobError::io("no temporary folder", &error))?;
        Ok(Folder { folder, lines: Lines::default() })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// New lines, and the same as text.
    pub fn lines(&self, split: u32, rows: u32) -> (Vec<Line>, String) {
        self.lines.make(split, rows)
    }

    /// Adds lines to a file.
    pub fn append(&self, split: u32, rows: u32) -> JobResult<Vec<Line>> {
        self.append_to(&format!("split {split}.jsonl"), split, rows)
    }

    /// Adds lines to the file of this name.
    pub fn append_to(&self, name: &str, split: u32, rows: u32) -> JobResult<Vec<Line>> {
        self.lines.append(&self.path(name), split, rows)
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
