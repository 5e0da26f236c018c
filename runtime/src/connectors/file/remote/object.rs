//! An object that is read like a file: by ranges, the next one on its way while one is read.

use std::io::{Error as IoError, ErrorKind, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{Error, GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt};
use xxhash_rust::xxh3::xxh3_64;

use crate::connectors::file::discover::Found;
use crate::connectors::file::stamp::Stamp;
use crate::error::{JobError, JobResult};
use crate::storage::{Objects, block, is_answer, key_of, open_remote, retried, root_cause, spawn};

/// Bytes of one request.
const RANGE: u64 = 4 * 1024 * 1024;

/// A store could not read: that says nothing about what is in the object.
#[derive(Clone, Debug)]
pub(crate) struct StoreFailure {
    text: String,
    /// It has not answered, and may do so later.
    may_pass: bool,
}

impl StoreFailure {
    fn io(text: String, may_pass: bool) -> IoError {
        IoError::other(StoreFailure { text, may_pass })
    }
}

impl std::fmt::Display for StoreFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for StoreFailure {}

fn failure(error: &IoError) -> Option<&StoreFailure> {
    error.get_ref()?.downcast_ref::<StoreFailure>()
}

/// Whether this error says that a store could not read.
pub(crate) fn store_failure(error: &IoError) -> Option<IoError> {
    failure(error).map(|failure| IoError::new(error.kind(), failure.clone()))
}

/// What is not found when files are looked for will not be found by a restart, unless it is a store that has not answered.
pub(crate) fn cannot_find(path: &str, error: &IoError) -> JobError {
    let failed = JobError::io(format_args!("cannot read `{path}`"), error);
    if failure(error).is_some_and(|failure| failure.may_pass) { failed } else { failed.permanent() }
}

fn io(error: &Error) -> IoError {
    match error {
        Error::NotFound { .. } => IoError::from(ErrorKind::NotFound),
        Error::Precondition { .. } => StoreFailure::io("it was replaced while it was read".to_owned(), false),
        error => StoreFailure::io(root_cause(error), !is_answer(error)),
    }
}

/// An error of this program, not of a store.
fn own(error: &JobError) -> IoError {
    StoreFailure::io(error.message().to_owned(), false)
}

fn object_of(path: &str) -> std::io::Result<(Arc<dyn Objects>, Path)> {
    let remote = open_remote(path).map_err(|error| own(&error))?;
    Ok((remote.store, key_of(remote.path)))
}

fn wait<T: Send + 'static>(work: impl Future<Output = Result<T, Error>> + Send + 'static) -> std::io::Result<T> {
    block(work).map_err(|error| own(&error))?.map_err(|error| io(&error))
}

fn stamp_of(meta: &ObjectMeta) -> Stamp {
    let modified = u64::try_from(meta.last_modified.timestamp()).unwrap_or(0) * 1_000_000;
    // Another content under the name is another object; the same content under another name, too.
    let text = format!("{}\n{}", meta.location, meta.e_tag.as_deref().unwrap_or_default());
    Stamp { len: meta.size, modified, inode: xxh3_64(text.as_bytes()), born: 0 }
}

/// What the store says of an object.
pub(crate) fn stamp_at(path: &str) -> std::io::Result<Stamp> {
    let (store, key) = object_of(path)?;
    wait(async move { retried(|| store.head(&key)).await }).map(|meta| stamp_of(&meta))
}

/// The first bytes of an object of this size.
pub(crate) fn start_of(path: &str, size: u64, len: u64) -> std::io::Result<Vec<u8>> {
    if size == 0 {
        return Ok(Vec::new());
    }
    let (store, key) = object_of(path)?;
    wait(async move { Ok(retried(|| store.get_range(&key, 0..len.min(size))).await?.to_vec()) })
}

/// Objects that a part of the option `path` means: one, those of a folder, or those of a pattern. `keep`: by the path, and the part.
pub(crate) fn find(part: &str, keep: impl Fn(&std::path::Path, &str) -> bool) -> JobResult<Vec<Found>> {
    let remote = open_remote(part)?;
    let bucket = remote.bucket().to_owned();
    let found = |meta: &ObjectMeta| Found { path: format!("{bucket}/{}", meta.location), stamp: stamp_of(meta) };
    let (store, path) = (remote.store.clone(), remote.path.clone());
    let Some(at) = path.find(['*', '?', '[']) else {
        let key = key_of(path.as_str());
        let mut no_object = None;
        if !path.is_empty() && !part.ends_with('/') {
            let (store, key) = (store.clone(), key.clone());
            match wait(async move { retried(|| store.head(&key)).await }) {
                Ok(meta) => return Ok(vec![found(&meta)]),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                // Some servers do not like to be asked for a folder.
                Err(error) => no_object = Some(error),
            }
        }
        let listed = wait(async move { retried(|| store.list_with_delimiter(Some(&key))).await })
            .map_err(|error| cannot_find(part, &error))?;
        if let (Some(error), true) = (no_object, listed.objects.is_empty()) {
            return Err(cannot_find(part, &error));
        }
        let objects = listed.objects.iter().filter(|meta| keep(std::path::Path::new(meta.location.as_ref()), ""));
        return Ok(objects.map(found).collect());
    };
    let options = glob::MatchOptions { require_literal_leading_dot: true, require_literal_separator: true, case_sensitive: true };
    let pattern = glob::Pattern::new(&path)
        .map_err(|error| JobError::new(format!("`{part}` is no valid pattern: {} (at {})", error.msg, error.pos)))?;
    // Whole folders before the first special letter.
    let prefix = path[..at].rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let listed: Vec<ObjectMeta> = wait(async move {
        let prefix = (!prefix.is_empty()).then(|| key_of(prefix));
        retried(|| store.list(prefix.as_ref()).try_collect()).await
    })
    .map_err(|error| cannot_find(part, &error))?;
    let asked = path.rsplit('/').next().unwrap_or(&path);
    let wanted = |meta: &&ObjectMeta| {
        let name = meta.location.as_ref();
        pattern.matches_with(name, options) && keep(std::path::Path::new(name), asked)
    };
    Ok(listed.iter().filter(wanted).map(found).collect())
}

/// An object that is open.
pub(crate) struct ObjectFile {
    store: Arc<dyn Objects>,
    key: Path,
    etag: Option<String>,
    stamp: Stamp,
    /// The first byte that was not asked for.
    next: u64,
    pending: Option<Receiver<Result<Vec<u8>, Error>>>,
    chunk: Vec<u8>,
    /// Of `chunk`, read already.
    read: usize,
}

impl ObjectFile {
    pub(crate) fn open(path: &str) -> std::io::Result<Self> {
        let (store, key) = object_of(path)?;
        let asked = (store.clone(), key.clone());
        let meta = wait(async move { retried(|| asked.0.head(&asked.1)).await })?;
        let stamp = stamp_of(&meta);
        Ok(ObjectFile { store, key, etag: meta.e_tag, stamp, next: 0, pending: None, chunk: Vec::new(), read: 0 })
    }

    /// What it was when it was opened: it cannot change, only be replaced.
    pub(crate) fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Goes on at this place.
    pub(crate) fn seek(&mut self, position: u64) {
        self.next = position;
        self.pending = None;
        self.chunk.clear();
        self.read = 0;
    }

    fn ask(&mut self) -> std::io::Result<()> {
        if self.next >= self.stamp.len {
            return Ok(());
        }
        let range: Range<u64> = self.next..(self.next + RANGE).min(self.stamp.len);
        self.next = range.end;
        let (sender, receiver) = sync_channel(1);
        let (store, key) = (self.store.clone(), self.key.clone());
        let options = GetOptions { range: Some(range.into()), if_match: self.etag.clone(), ..GetOptions::default() };
        let asked = spawn(async move {
            // A connection that breaks in the middle of the answer is made up for by the client.
            let got = retried(|| async { store.get_opts(&key, options.clone()).await?.bytes().await }).await;
            let got = got.map(|bytes| bytes.to_vec());
            // Nobody reads on.
            let _ = sender.send(got);
        });
        asked.map_err(|error| own(&error))?;
        self.pending = Some(receiver);
        Ok(())
    }
}

impl Read for ObjectFile {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.read == self.chunk.len() {
            if self.pending.is_none() {
                self.ask()?;
            }
            let Some(pending) = self.pending.take() else { return Ok(0) };
            let gone = || StoreFailure::io("a request to a store panicked".to_owned(), false);
            self.chunk = pending.recv().map_err(|_| gone())?.map_err(|error| io(&error))?;
            self.read = 0;
            self.ask()?;
        }
        let len = buffer.len().min(self.chunk.len() - self.read);
        buffer[..len].copy_from_slice(&self.chunk[self.read..self.read + len]);
        self.read += len;
        Ok(len)
    }
}
