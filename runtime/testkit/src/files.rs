//! Rows in JSON lines, for the suites of sinks and sources of files, wherever these are: what goes in, and what must come out.

use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use millstream::value::Str;
use millstream::{JobError, JobResult, Record};

/// A row of a sink. Its number says it all.
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Row {
    /// Given by the suite.
    pub number: i64,
    /// Follows from the number.
    pub text: Str,
}

impl Row {
    /// The row of this number.
    pub fn of(number: u64) -> Self {
        Row { number: i64::try_from(number).unwrap_or(i64::MAX), text: format!("row {number}, ü").into() }
    }

    /// The row of a line; an error if anything in it is not as it must be.
    pub fn parse(line: &str) -> JobResult<Self> {
        let bad = || JobError::new(format!("no row: {line}"));
        let rest = line.strip_prefix("{\"number\":").ok_or_else(bad)?;
        let number = rest.split(',').next().and_then(|digits| digits.parse().ok()).ok_or_else(bad)?;
        let row = Row::of(number);
        if line == format!("{{\"number\":{number},\"text\":\"{}\"}}", row.text) { Ok(row) } else { Err(bad()) }
    }

    /// All rows in the visible files of a folder, which need not be there.
    pub fn all_in(folder: &Path) -> JobResult<Vec<Self>> {
        let mut rows = Vec::new();
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        for path in entries.filter(|path| !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))) {
            let text = std::fs::read_to_string(&path).map_err(|error| JobError::io(path.display(), &error))?;
            if !text.is_empty() && !text.ends_with('\n') {
                return Err(JobError::new(format!("{} ends in the middle of a line", path.display())));
            }
            for line in text.lines() {
                rows.push(Row::parse(line)?);
            }
        }
        Ok(rows)
    }
}

/// A row of a source.
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Line {
    /// The split that it was written to.
    pub split: i64,
    /// Used once.
    pub number: i64,
    /// Follows from both.
    pub text: Str,
}

/// Makes rows for a source.
#[derive(Debug, Default)]
pub struct Lines(AtomicU64);

impl Lines {
    /// New rows, with numbers that were not used before, and the same as text.
    pub fn make(&self, split: u32, rows: u32) -> (Vec<Line>, String) {
        let mut text = String::new();
        let mut lines = Vec::new();
        for _ in 0..rows {
            let number = i64::try_from(self.0.fetch_add(1, SeqCst)).unwrap_or(i64::MAX);
            let line = Line { split: i64::from(split), number, text: format!("row \"{number}\" of {split} ü").into() };
            text.push_str(&format!("{{\"split\":{split},\"number\":{number},\"text\":\"row \\\"{number}\\\" of {split} ü\"}}\n"));
            lines.push(line);
        }
        (lines, text)
    }

    /// Adds new rows to a file.
    pub fn append(&self, file: &Path, split: u32, rows: u32) -> JobResult<Vec<Line>> {
        let (lines, text) = self.make(split, rows);
        let file = std::fs::File::options().create(true).append(true).open(file);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| JobError::io("cannot write", &error))?;
        Ok(lines)
    }
}
