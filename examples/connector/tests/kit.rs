//! The connectors, held to the connector test kit.

mod service;

use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use connector::feed::{Batch, BatchSink, Poll, PollSource, ask};
use connector::mirror::{Mirror, MirrorSink};
use millstream::formats::{Decoder as _, Format as _, JsonFormat};
use millstream::prelude::*;
use millstream::{JobError, Options};
use millstream_testkit::{Boundedness, Delivery, SinkClaims, SinkContext, SourceClaims, SourceContext, Splits, TableSinkContext};

use service::Service;

#[derive(Clone, Debug, PartialEq, Record)]
pub struct Number {
    pub number: i64,
}

/// The log of a service.
pub struct Log {
    service: Service,
    numbers: AtomicI64,
}

impl SourceContext for Log {
    type Source = PollSource<Number, JsonFormat>;
    const NAME: &'static str = "poll (example)";
    const CLAIMS: SourceClaims =
        SourceClaims { delivery: Delivery::ExactlyOnce, boundedness: Boundedness::Both, splits: Splits::Written, grows: true };

    fn open() -> JobResult<Self> {
        Ok(Log { service: Service::start()?, numbers: AtomicI64::new(0) })
    }

    fn write(&self, split: u32, rows: u32) -> JobResult<Vec<Number>> {
        let first = self.numbers.fetch_add(i64::from(rows), SeqCst);
        let rows: Vec<_> = (first..first + i64::from(rows)).map(|number| Number { number }).collect();
        rows.iter().for_each(|row| self.service.add(split as usize, format!("{{\"number\":{}}}", row.number)));
        Ok(rows)
    }

    fn source(&self, bounded: bool) -> JobResult<Self::Source> {
        let options = Options::new().with("url", self.service.url.clone()).with("rows", 7).with("drain", bounded);
        Poll::from_options(&options)?.source(JsonFormat::from_options(&Options::new())?)
    }
}

mod source {
    millstream_testkit::source_suite!(super::Log);
}

/// The table of a service.
pub struct Table {
    url: String,
    _service: Option<Service>,
}

impl SinkContext for Table {
    type Row = Number;
    type Sink = BatchSink<Number, JsonFormat>;
    const NAME: &'static str = "batch (example)";
    const CLAIMS: SinkClaims = SinkClaims::EXACTLY_ONCE;

    fn open() -> JobResult<Self> {
        let service = Service::start()?;
        Ok(Table { url: service.url.clone(), _service: Some(service) })
    }

    fn address(&self) -> String {
        self.url.clone()
    }

    fn at(address: &str) -> JobResult<Self> {
        Ok(Table { url: address.to_owned(), _service: None })
    }

    fn row(&self, number: u64) -> Number {
        Number { number: number as i64 }
    }

    fn sink(&self) -> JobResult<Self::Sink> {
        let options = Options::new().with("url", self.url.clone()).with("rows", 20);
        Batch::from_options(&options)?.sink(JsonFormat::from_options(&Options::new())?)
    }

    fn read(&self) -> JobResult<Vec<Number>> {
        rows(&self.url)
    }
}

/// The rows that can be seen.
fn rows<T: Record>(url: &str) -> JobResult<Vec<T>> {
    let mut decoder = JsonFormat::from_options(&Options::new())?.decoder::<T>(None)?;
    let table = ask(url, "GET", "/table", "")?;
    let rows = table.lines().map(|line| decoder.decode(line.as_bytes()));
    rows.filter_map(Result::transpose).collect::<Result<_, _>>().map_err(|error| JobError::new(error.to_string()))
}

mod sink {
    millstream_testkit::sink_suite!(super::Table);
}

#[derive(Clone, Debug, PartialEq, Record)]
pub struct Version {
    pub number: u64,
    pub version: u64,
}

/// The table of a service, by key.
pub struct Mirrored(Table);

impl TableSinkContext for Mirrored {
    type Row = Version;
    type Sink = MirrorSink<Version, JsonFormat>;
    const NAME: &'static str = "mirror (example)";
    const CLAIMS: SinkClaims = SinkClaims::EXACTLY_ONCE;

    fn open() -> JobResult<Self> {
        Table::open().map(Mirrored)
    }

    fn address(&self) -> String {
        self.0.address()
    }

    fn at(address: &str) -> JobResult<Self> {
        Table::at(address).map(Mirrored)
    }

    fn row(&self, key: u64, version: u64) -> Version {
        Version { number: key, version }
    }

    fn key(row: &Version) -> u64 {
        row.number
    }

    fn sink(&self) -> JobResult<Self::Sink> {
        let mirror = Mirror::from_options(&Options::new().with("url", self.0.url.clone()).with("rows", 20))?;
        mirror.table_sink(JsonFormat::from_options(&Options::new())?, TableKey::new::<Version>(&["number"])?)
    }

    fn read(&self) -> JobResult<Vec<Version>> {
        rows(&self.0.url)
    }
}

mod table_sink {
    millstream_testkit::table_sink_suite!(super::Mirrored);
}
