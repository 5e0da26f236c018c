//! All of them, held to the kit.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use millstream::formats::{Decoder as _, Format as _, JsonFormat};
use millstream::prelude::*;
use millstream::{JobError, JobResult, Options};
use millstream_testkit::{SinkClaims, SinkContext, SourceClaims, SourceContext, TableSinkContext};

use super::journal::{Journal, blocks};
use super::ledger::{Ledger, LedgerSink};
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
        Ok(self.lines())
    }
}

impl Book {
    fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        let end = blocks(&text).last().map_or(0, |(.., end)| *end);
        text[..end].lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    }
}

mod sink {
    millstream_testkit::sink_suite!(super::Book);
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Account {
    pub number: u64,
    pub version: u64,
}

/// A ledger in a folder of its own.
pub struct Accounts(Book);

impl TableSinkContext for Accounts {
    type Row = Account;
    type Sink = LedgerSink<JsonFormat>;
    const NAME: &'static str = "ledger (guide)";
    const CLAIMS: SinkClaims = SinkClaims::EXACTLY_ONCE;

    fn open() -> JobResult<Self> {
        Book::open().map(Accounts)
    }

    fn address(&self) -> String {
        self.0.address()
    }

    fn at(address: &str) -> JobResult<Self> {
        Book::at(address).map(Accounts)
    }

    fn row(&self, key: u64, version: u64) -> Account {
        Account { number: key, version }
    }

    fn key(account: &Account) -> u64 {
        account.number
    }

    fn sink(&self) -> JobResult<Self::Sink> {
        let json = JsonFormat::from_options(&Options::new())?;
        Ledger { path: self.0.address() }.table_sink::<Account, _>(json, TableKey::new::<Account>(&["number"])?)
    }

    fn read(&self) -> JobResult<Vec<Account>> {
        let mut decoder = JsonFormat::from_options(&Options::new())?.decoder::<Account>(None)?;
        let mut standing = BTreeMap::new();
        for line in self.0.lines() {
            match line.split_once('\t') {
                Some((key, row)) => standing.insert(key[1..].to_owned(), row.to_owned()),
                None => standing.remove(&line[1..]),
            };
        }
        let rows = standing.values().map(|row| decoder.decode(row.as_bytes()));
        rows.filter_map(Result::transpose).collect::<Result<_, _>>().map_err(|error| JobError::new(error.to_string()))
    }
}

mod table_sink {
    millstream_testkit::table_sink_suite!(super::Accounts);
}
