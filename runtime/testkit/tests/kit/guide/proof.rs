//! Both, held to the kit.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use millstream::{JobError, JobResult};
use millstream_testkit::{SinkClaims, SinkContext, SourceClaims, SourceContext};

use super::journal::{Journal, blocks};
use super::readings::{Reading, Readings};

/// A folder of devices.
pub struct Devices {
    folder: tempfile::TempDir,
    numbers: AtomicU32,
}

impl SourceContext for Devices {
    type Source = Readings;
    const NAME: &'static str = "readings (guide)";
    const CLAIMS: SourceClaims = SourceClaims::BOUNDED;

    fn open() -> JobResult<Self> {
        let folder = tempfile::tempdir().map_err(|error| JobError::io("no temporary folder", &error))?;
        Ok(Devices { folder, numbers: AtomicU32::new(0) })
    }

    fn write(&self, split: u32, rows: u32) -> JobResult<Vec<Reading>> {
        let device = format!("device {split}");
        let first = self.numbers.fetch_add(rows, SeqCst);
        let readings: Vec<_> = (first..first + rows)
            .map(|number| Reading { device: device.clone(), time: i64::from(number), celsius: f64::from(number) / 10.0 })
            .collect();
        let bytes: Vec<u8> =
            readings.iter().flat_map(|row| [row.time.to_le_bytes(), row.celsius.to_le_bytes()]).flatten().collect();
        let file = File::options().create(true).append(true).open(self.folder.path().join(format!("{device}.bin")));
        file.and_then(|mut file| file.write_all(&bytes)).map_err(|error| JobError::io("cannot write", &error))?;
        Ok(readings)
    }

    fn source(&self, _bounded: bool) -> JobResult<Readings> {
        Ok(Readings { folder: self.folder.path().to_owned() })
    }
}

mod source {
    millstream_testkit::source_suite!(super::Devices);
}

/// A journal in a folder of its own.
pub struct Book {
    path: PathBuf,
    _folder: Option<tempfile::TempDir>,
}

impl SinkContext for Book {
    type Row = String;
    type Sink = Journal;
    const NAME: &'static str = "journal (guide)";
    const CLAIMS: SinkClaims = SinkClaims::EXACTLY_ONCE;

    fn open() -> JobResult<Self> {
        let folder = tempfile::tempdir().map_err(|error| JobError::io("no temporary folder", &error))?;
        Ok(Book { path: folder.path().join("journal"), _folder: Some(folder) })
    }

    fn address(&self) -> String {
        self.path.display().to_string()
    }

    fn at(address: &str) -> JobResult<Self> {
        Ok(Book { path: address.into(), _folder: None })
    }

    fn row(&self, number: u64) -> String {
        format!("row {number}")
    }

    fn sink(&self) -> JobResult<Journal> {
        Ok(Journal { path: self.path.clone() })
    }

    fn read(&self) -> JobResult<Vec<String>> {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        let end = blocks(&text).last().map_or(0, |(.., end)| *end);
        Ok(text[..end].lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect())
    }
}

mod sink {
    millstream_testkit::sink_suite!(super::Book);
}
