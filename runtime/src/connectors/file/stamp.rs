//! What tells one file from another of the same name, and from its own earlier state.

use std::fs::Metadata;
use std::time::{SystemTime, UNIX_EPOCH};

use super::remote::stamp_at;
use crate::bytes::{Reader, put_u64};
use crate::error::JobResult;
use crate::storage::scheme_of;

/// A file at the moment when it was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    /// Bytes on disk.
    pub len: u64,
    /// When it was last written to, in microseconds since the epoch.
    pub modified: u64,
    /// Its number in its file system; 0 where there is none.
    pub inode: u64,
    /// When it was made, in microseconds since the epoch; 0 where that is not known. Numbers are used again, this is not.
    pub born: u64,
}

impl Stamp {
    /// What the file system says.
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Stamp {
            len: metadata.len(),
            modified: metadata.modified().map_or(0, micros),
            inode: inode(metadata),
            born: metadata.created().map_or(0, micros),
        }
    }

    /// What is at this path.
    pub(crate) fn at(path: &str) -> std::io::Result<Self> {
        match scheme_of(path) {
            Some(_) => stamp_at(path),
            None => std::fs::metadata(path).map(|metadata| Stamp::of(&metadata)),
        }
    }

    /// Whether these are two states of one file.
    pub(crate) fn same_file(&self, other: &Stamp) -> bool {
        (self.inode, self.born) == (other.inode, other.born)
    }

    /// Whether this looks like the same content: nothing was written since, or the file was copied with its times.
    pub(crate) fn same_content(&self, other: &Stamp) -> bool {
        (self.len, self.modified) == (other.len, other.modified)
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_u64(out, self.len);
        put_u64(out, self.modified);
        put_u64(out, self.inode);
        put_u64(out, self.born);
    }

    pub(crate) fn decode(input: &mut Reader<'_>) -> JobResult<Self> {
        Ok(Stamp { len: input.u64()?, modified: input.u64()?, inode: input.u64()?, born: input.u64()? })
    }
}

/// Microseconds since the epoch.
pub(crate) fn micros(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_metadata: &Metadata) -> u64 {
    0
}
