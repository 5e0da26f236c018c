//! The file sink that merges small files before they are shown.

use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use millstream::{JobResult, Options};
use millstream_testkit::files::Row;
use millstream_testkit::{SinkClaims, SinkContext, sink_suite};

use super::file_sink::Folder;

pub struct Compacted(Folder);

impl SinkContext for Compacted {
    type Row = Row;
    type Sink = FileSink<Row, JsonFormat>;
    const NAME: &'static str = "file, compact";
    const CLAIMS: SinkClaims = SinkClaims { delayed: true, ..SinkClaims::EXACTLY_ONCE };

    fn open() -> JobResult<Self> {
        Ok(Compacted(Folder::open()?))
    }

    fn address(&self) -> String {
        self.0.path().display().to_string()
    }

    fn at(address: &str) -> JobResult<Self> {
        Ok(Compacted(Folder::at(address)))
    }

    fn row(&self, number: u64) -> Row {
        Row::of(number)
    }

    fn sink(&self) -> JobResult<Self::Sink> {
        let options = Options::new().with("path", self.address()).with("roll_size", 5000_i64);
        FileSink::from_options(&options.with("compact", 20_000_i64).with("compact_every", 2_i64))
    }

    fn read(&self) -> JobResult<Vec<Row>> {
        Row::all_in(self.0.path())
    }
}

sink_suite!(Compacted);
