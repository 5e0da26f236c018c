//! The file sink: JSON lines in a folder.

use std::path::{Path, PathBuf};

use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use millstream::{JobError, JobResult, Options};
use millstream_testkit::files::Row;
use millstream_testkit::{SinkClaims, SinkContext, sink_suite};

/// A folder that is removed at the end by the process that made it.
pub struct Folder {
    path: PathBuf,
    _own: Option<tempfile::TempDir>,
}

impl Folder {
    pub fn open() -> JobResult<Self> {
        let own = tempfile::tempdir().map_err(|error| JobError::io("no temporary folder", &error))?;
        Ok(Folder { path: own.path().join("out: one"), _own: Some(own) })
    }

    pub fn at(address: &str) -> Self {
        Folder { path: address.into(), _own: None }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

pub struct Files(Folder);

impl SinkContext for Files {
    type Row = Row;
    type Sink = FileSink<Row, JsonFormat>;
    const NAME: &'static str = "file";
    const CLAIMS: SinkClaims = SinkClaims::EXACTLY_ONCE;

    fn open() -> JobResult<Self> {
        Ok(Files(Folder::open()?))
    }

    fn address(&self) -> String {
        self.0.path().display().to_string()
    }

    fn at(address: &str) -> JobResult<Self> {
        Ok(Files(Folder::at(address)))
    }

    fn row(&self, number: u64) -> Row {
        Row::of(number)
    }

    fn sink(&self) -> JobResult<Self::Sink> {
        // Small files: several per writer and checkpoint.
        FileSink::from_options(&Options::new().with("path", self.address()).with("roll_size", 5000_i64))
    }

    fn read(&self) -> JobResult<Vec<Row>> {
        Row::all_in(self.0.path())
    }
}

sink_suite!(Files);
