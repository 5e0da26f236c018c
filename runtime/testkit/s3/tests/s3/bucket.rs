//! A server for all tests of the suites, and folders in its bucket.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use millstream::{JobError, JobResult};
use millstream_testkit_s3::{Server, environment};

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("s3-{}", std::process::id()));
    let server = Server::start(&root).unwrap();
    millstream::storage::s3::use_settings(server.environment());
    server
});

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A folder of the bucket, of one test.
pub struct Folder {
    address: String,
    path: PathBuf,
    name: String,
}

impl Folder {
    pub fn new() -> Self {
        let name = format!("test {}/ü", NEXT.fetch_add(1, SeqCst));
        Folder { address: SERVER.address(), path: SERVER.bucket().join(&name), name }
    }

    /// Where it is, for another process.
    pub fn address(&self) -> String {
        format!("{}|{}|{}", self.address, self.path.display(), self.name)
    }

    /// What [`Folder::address`] gave.
    pub fn at(address: &str) -> JobResult<Self> {
        let mut parts = address.split('|').map(str::to_owned);
        match (parts.next(), parts.next(), parts.next()) {
            (Some(address), Some(path), Some(name)) => {
                millstream::storage::s3::use_settings(environment(&address));
                Ok(Folder { address, path: path.into(), name })
            }
            _ => Err(JobError::new(format!("no address: {address}"))),
        }
    }

    pub fn place(&self) -> String {
        format!("s3://data/{}", self.name)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}
