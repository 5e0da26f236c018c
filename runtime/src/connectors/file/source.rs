//! The source of the connector `file`.

use std::marker::PhantomData;
use std::time::Duration;

use super::discover::Search;
use super::enumerator::FileEnumerator;
use super::fetch::FileFetcher;
use super::open::Codec;
use super::split::FileSplit;
use crate::connectors::emitter::RecordEmitter;
use crate::error::{JobError, JobResult};
use crate::formats::Format;
use crate::options::Options;
use crate::record::Record;
use crate::source::fetch::FetchingReader;
use crate::source::{ReaderContext, Source, SourceContext};
use crate::storage::{open_remote, scheme_of};

/// Reads rows of type `T` in the format `F` from files.
#[derive(Clone, Debug)]
pub struct FileSource<T, F> {
    path: String,
    /// None: as the first bytes of each file say.
    compression: Option<Codec>,
    /// How often to look for new files; None: once.
    watch: Option<Duration>,
    /// Files grow.
    append: bool,
    rate: Option<u64>,
    format: F,
    row: PhantomData<fn() -> T>,
}

impl<T: Record, F: Format> FileSource<T, F> {
    /// See the connector's options.
    pub fn from_options(options: &Options) -> JobResult<Self> {
        let compression = match options.word("compression", &["auto", "none", "gzip", "zstd"])? {
            "none" => Some(Codec::Plain),
            "gzip" => Some(Codec::Gzip),
            "zstd" => Some(Codec::Zstd),
            _ => None,
        };
        let path = options.required_text("path")?.to_owned();
        let append = options.boolean("append")?.unwrap_or(false);
        if let Some(place) = path.split(',').map(str::trim).find(|part| scheme_of(part).is_some()) {
            // Also says at once what is wrong with it.
            open_remote(place)?;
            if append {
                return Err(JobError::new(format!(
                    "objects such as `{place}` do not grow: leave `append: true` away, and take `watch: every 10s` for new ones"
                )));
            }
        }
        Ok(FileSource {
            path,
            compression,
            watch: options.every("watch")?,
            append,
            rate: options.unsigned("rate")?,
            format: crate::connectors::format_of(options)?,
            row: PhantomData,
        })
    }
}

impl<T: Record, F: Format> Source for FileSource<T, F> {
    type Row = T;
    type Split = FileSplit;
    type Enumerator = FileEnumerator;
    type Reader = FetchingReader<RecordEmitter<T, F, FileSplit>>;

    fn enumerator(&self, context: &SourceContext, restored: Option<&[u8]>) -> JobResult<FileEnumerator> {
        let splittable = self.format.framing().is_splittable() && !self.format.has_header();
        let search = Search {
            pattern: self.path.clone(),
            compression: self.compression,
            splittable,
            append: self.append,
            parallelism: context.parallelism,
        };
        FileEnumerator::new(search, self.watch, restored)
    }

    fn reader(&self, context: &ReaderContext) -> JobResult<Self::Reader> {
        let emitter = RecordEmitter::new(self.format.clone(), self.rate, context.throttle.clone());
        let fetcher = FileFetcher::new(self.format.framing(), self.format.has_header(), self.append);
        FetchingReader::start(&context.name, fetcher, emitter)
    }

    fn bounded(&self) -> bool {
        self.watch.is_none() && !self.append
    }
}
