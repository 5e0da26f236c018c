//! The file source on a watched folder: every batch of rows is a file of its own, renamed in.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use millstream::{JobError, JobResult, Options};
use millstream_testkit::files::Line;
use millstream_testkit::{Boundedness, SourceClaims, SourceContext, source_suite};

use super::file_source::Folder;

pub struct Watched {
    folder: Folder,
    files: AtomicU64,
}

impl SourceContext for Watched {
    type Source = FileSource<Line, JsonFormat>;
    const NAME: &'static str = "file, watched";
    const CLAIMS: SourceClaims = SourceClaims { boundedness: Boundedness::Unbounded, grows: true, ..SourceClaims::BOUNDED };

    fn open() -> JobResult<Self> {
        Ok(Watched { folder: Folder::open()?, files: AtomicU64::new(0) })
    }

    fn write(&self, split: u32, rows: u32) -> JobResult<Vec<Line>> {
        let (lines, text) = self.folder.lines(split, rows);
        let name = format!("split {split}: {}.jsonl", self.files.fetch_add(1, SeqCst));
        let hidden = self.folder.path(&format!(".{name}"));
        let written = std::fs::write(&hidden, text).and_then(|()| std::fs::rename(&hidden, self.folder.path(&name)));
        written.map_err(|error| JobError::io("cannot write", &error))?;
        Ok(lines)
    }

    fn source(&self, _bounded: bool) -> JobResult<Self::Source> {
        let options = Options::new().with("path", self.folder.path("").display().to_string()).with("watch", 5000_i64);
        FileSource::from_options(&options)
    }
}

source_suite!(Watched);
