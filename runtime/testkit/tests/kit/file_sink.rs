//! The file sink: JSON lines in a folder.

use std::path::{Path, PathBuf};

use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use millstream::{JobError, JobResult, Options, Record};
use millstream_testkit::{SinkClaims, SinkContext, sink_suite};

#[derive(Clone, Debug, PartialEq, Record)]
pub struct Row {
    pub number: i64,
    pub text: millstream::value::Str,
}

impl Row {
    pub fn of(number: u64) -> Self {
        Row { number: i64::try_from(number).unwrap_or(i64::MAX), text: format!("row {number}, ü").into() }
    }

    /// The row of a line of JSON: its number says it all, and the rest is compared.
    pub fn parse(line: &str) -> JobResult<Self> {
        let bad = || JobError::new(format!("no row: {line}"));
        let rest = line.strip_prefix("{\"number\":").ok_or_else(bad)?;
        let number = rest.split(',').next().and_then(|digits| digits.parse().ok()).ok_or_else(bad)?;
        let row = Row::of(number);
        if line == format!("{{\"number\":{number},\"text\":\"{}\"}}", row.text) { Ok(row) } else { Err(bad()) }
    }
}

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

    /// All lines of visible files.
    pub fn lines(&self) -> JobResult<Vec<String>> {
        let mut lines = Vec::new();
        let entries = std::fs::read_dir(&self.path).into_iter().flatten().flatten().map(|entry| entry.path());
        for path in entries.filter(|path| !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))) {
            let text = std::fs::read_to_string(&path).map_err(|error| JobError::io(path.display(), &error))?;
            if !text.is_empty() && !text.ends_with('\n') {
                return Err(JobError::new(format!("{} ends in the middle of a line", path.display())));
            }
            lines.extend(text.lines().map(str::to_owned));
        }
        Ok(lines)
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
        self.0.lines()?.iter().map(|line| Row::parse(line)).collect()
    }
}

sink_suite!(Files);
