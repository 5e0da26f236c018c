//! What the attributes of macros say that no other example needs.

use millstream::connectors::file::FileSource;
use millstream::options::Options;
use millstream::prelude::*;

/// What a device has measured.
#[derive(Clone, Debug, Record)]
pub struct Measured {
    /// Of the key: a `lookup` of such rows, and a table of them, say no other.
    #[flow(key)]
    pub device: String,
    /// A number of milliseconds in the data.
    #[flow(unit = "ms")]
    pub at: Timestamp,
    pub celsius: f64,
}

/// Files that are looked at again and again.
#[derive(Clone, Debug, Connector)]
#[flow(name = "spool", formats = "json, csv", replayable, bounded)]
pub struct SpoolFolder {
    /// The folder.
    pub path: String,
    /// What happens to files that have been read.
    #[flow(words = "keep, remove", default = "keep")]
    pub after: String,
    /// How much is read at once.
    #[flow(size, default = "8MB")]
    pub block: u64,
    /// How often the folder is looked at; once without it.
    #[flow(every)]
    pub watch: Option<Duration>,
}

impl SourceConnector for SpoolFolder {
    type Source<T: Record, F: Format> = FileSource<T, F>;

    fn source<T: Record, F: Format>(self, _format: F) -> JobResult<FileSource<T, F>> {
        FileSource::from_options(&Options::new().with("path", self.path))
    }
}

/// Where a device stands, as somebody else knows.
#[function(in_flight = 50, timeout = "2s", retries = 3, backoff = "50ms", unordered)]
pub async fn place_of(device: &str) -> Result<String, String> {
    Ok(device.to_uppercase())
}
