//! The file source on files that grow, and that come later.

use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use millstream::{JobResult, Options};
use millstream_testkit::files::Line;
use millstream_testkit::{Boundedness, SourceClaims, SourceContext, source_suite};

use super::file_source::Folder;

pub struct Grown(Folder);

impl SourceContext for Grown {
    type Source = FileSource<Line, JsonFormat>;
    const NAME: &'static str = "file, append";
    const CLAIMS: SourceClaims = SourceClaims { boundedness: Boundedness::Unbounded, grows: true, ..SourceClaims::BOUNDED };

    fn open() -> JobResult<Self> {
        Ok(Grown(Folder::open()?))
    }

    fn write(&self, split: u32, rows: u32) -> JobResult<Vec<Line>> {
        self.0.append(split, rows)
    }

    fn source(&self, _bounded: bool) -> JobResult<Self::Source> {
        let path = self.0.path("*.jsonl").display().to_string();
        FileSource::from_options(&Options::new().with("path", path).with("append", true).with("watch", 5000_i64))
    }
}

source_suite!(Grown);
