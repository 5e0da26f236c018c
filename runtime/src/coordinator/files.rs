//! Data files of a checkpoint on their way to the store, and back.
//!
//! There may be more state than memory: while files are written no more of them are in memory than [`UNDER_WAY`] bytes and the one that is
//! being encoded. When a checkpoint is read, every file is looked at once, to know that it is what was written; of key groups only
//! where they lie is kept, or with a store that is not on this machine they are put where there is room for them ([`Landing`]).

use std::io::Read;
use std::path::PathBuf;
use std::pin::Pin;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::storage::{CheckpointStore, ReadError};
use crate::bytes::large_buffer;
use crate::checkpoint::{Contained, DataFile, Held, Manifest, NewFile, StateEntry, StoredState};
use crate::error::{JobError, JobResult};
use crate::seam::{self, Point};
use crate::storage::root_cause;

/// A data file that has grown so large is followed by another.
pub(super) const FILE_SIZE: usize = if cfg!(test) { 1024 } else { 16 * 1024 * 1024 };

/// So many bytes of files are on their way to or from the store at a time, or one file.
const UNDER_WAY: u64 = if cfg!(test) { 4 * 1024 } else { 64 << 20 };

/// So many files are read at a time.
const READS: u64 = 8;

/// In a simulation there is little state, and it is to have many files.
pub(super) fn file_size() -> usize {
    if seam::is_simulated() { 100 } else { FILE_SIZE }
}

type Put<'a> = Pin<Box<dyn Future<Output = (Bytes, JobResult<()>)> + Send + 'a>>;

/// So many buffers are kept for the files to come. New memory costs a fault and zeros for each of its pages.
const SPARE: usize = 2;

/// The data files of a checkpoint that is being written.
pub(super) struct Files<'a> {
    store: &'a CheckpointStore,
    folder: &'a str,
    /// In front of the numbers.
    prefix: &'static str,
    epoch: u64,
    pub files: Vec<DataFile>,
    puts: FuturesUnordered<Put<'a>>,
    under_way: u64,
    failed: Option<JobError>,
    /// Buffers of files that are written.
    spare: Vec<Vec<u8>>,
}

impl<'a> Files<'a> {
    pub fn new(store: &'a CheckpointStore, folder: &'a str, epoch: u64) -> Self {
        Files {
            store,
            folder,
            prefix: "",
            epoch,
            files: Vec::new(),
            puts: FuturesUnordered::new(),
            under_way: 0,
            failed: None,
            spare: Vec::new(),
        }
    }

    /// With names that begin so.
    pub fn named(self, prefix: &'static str) -> Self {
        Files { prefix, ..self }
    }

    /// Some work, while files are on their way.
    pub async fn beside<T>(&mut self, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                Some(put) = self.puts.next(), if !self.puts.is_empty() => self.arrived(put),
            }
        }
    }

    /// Sends a file on its way, when there is room for it.
    pub async fn add(&mut self, new: NewFile) -> JobResult<()> {
        seam::reach(Point::File).await?;
        let number = self.files.len();
        // A process that lost the directory may be writing into the same folder.
        let prefix = self.prefix;
        let name = match self.epoch {
            0 => format!("{prefix}{number:04}.state"),
            epoch => format!("{prefix}{number:04}-{epoch}.state"),
        };
        let path = format!("{}/{name}", self.folder);
        let file = DataFile::new(name, &new);
        let size = file.size;
        while self.under_way > 0 && self.under_way + size > UNDER_WAY {
            let Some(put) = self.puts.next().await else { break };
            self.arrived(put);
        }
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.files.push(file);
        self.under_way += size;
        let store = self.store;
        self.puts.push(Box::pin(async move {
            let result = store.put(&path, new.bytes.clone()).await;
            (new.bytes, result)
        }));
        Ok(())
    }

    /// A buffer for the next file, if there is one.
    pub fn spare(&mut self) -> Option<Vec<u8>> {
        self.spare.pop()
    }

    fn arrived(&mut self, (mut bytes, result): (Bytes, JobResult<()>)) {
        self.under_way -= bytes.len() as u64;
        if self.spare.len() < SPARE && bytes.len() >= FILE_SIZE && bytes.is_unique() {
            // What is in it is not to be moved to its front.
            bytes.truncate(0);
            self.spare.push(bytes.into());
        }
        if let Err(error) = result {
            self.failed.get_or_insert(error);
        }
    }

    /// Waits for all of them, also if something has failed: none may still be on its way when the folder is removed.
    pub async fn finish(mut self, written: JobResult<()>) -> JobResult<Vec<DataFile>> {
        while let Some(put) = self.puts.next().await {
            self.arrived(put);
        }
        written?;
        match self.failed {
            Some(error) => Err(error),
            None => Ok(self.files),
        }
    }
}

/// Entries by data file: few files, as each costs a sync, but none that is huge.
pub(super) fn pack(entries: Vec<StateEntry>) -> Vec<Vec<StateEntry>> {
    let mut files: Vec<Vec<StateEntry>> = Vec::new();
    let mut size = usize::MAX;
    for entry in entries {
        if size >= file_size() {
            files.push(Vec::new());
            size = 0;
        }
        size += entry.part.bytes().len();
        if let Some(file) = files.last_mut() {
            file.push(entry);
        }
    }
    files
}

/// Where key groups of a checkpoint are kept that is not on this machine, until they are wanted.
#[derive(Clone, Debug, Default)]
pub(crate) enum Landing {
    #[default]
    Memory,
    /// Below this folder: that of `state: disk`.
    #[cfg(feature = "disk")]
    Disk(PathBuf),
}

/// See [`Landing`].
enum Place {
    /// Files stay where they are.
    Here,
    Memory,
    #[cfg(feature = "disk")]
    Disk(std::sync::Arc<crate::state::OwnFolder>),
}

impl Place {
    fn of(store: &CheckpointStore) -> JobResult<Self> {
        if store.is_local {
            return Ok(Place::Here);
        }
        match &store.landing {
            Landing::Memory => Ok(Place::Memory),
            #[cfg(feature = "disk")]
            Landing::Disk(path) => Ok(Place::Disk(std::sync::Arc::new(crate::state::OwnFolder::make(path)?))),
        }
    }
}

impl CheckpointStore {
    /// Every data file of a checkpoint.
    pub(super) async fn read_files(&self, folder: &str, manifest: &Manifest) -> Result<Contained, ReadError> {
        let place = Place::of(self).map_err(|error| ReadError::Unreadable(error.message().to_owned()))?;
        let mut state = StoredState::default();
        let largest = manifest.files.iter().map(|file| file.size).max().unwrap_or(0).max(1);
        let at_once = (UNDER_WAY / largest).clamp(1, READS) as usize;
        let paths: Vec<String> = manifest.files.iter().map(|file| file.path(folder)).collect();
        let mut reads = futures_util::stream::iter(paths)
            .map(|path| async move {
                let bytes = if self.is_local { read_local(self.directory.join(&path)).await } else { self.get(&path).await };
                (path, bytes)
            })
            .buffered(at_once);
        for file in &manifest.files {
            let Some((path, bytes)) = reads.next().await else { break };
            let shown = || {
                let path = self.directory.join(&path).display().to_string();
                if file.of.is_some() { format!("`{path}`, on which `{folder}` builds,") } else { format!("`{path}`") }
            };
            let bytes = bytes.map_err(|error| match error {
                object_store::Error::NotFound { .. } => ReadError::Damaged(format!("{} is missing", shown())),
                error => ReadError::Unreadable(format!("{} cannot be read: {}", shown(), root_cause(&error))),
            })?;
            let damaged = |reason: String| ReadError::Damaged(format!("{} is damaged: {reason}", shown()));
            file.check(&bytes).map_err(damaged)?;
            let add = |state: &mut StoredState, bytes: &[u8], held: &Held| {
                state.add(file, bytes, held).map_err(|error| damaged(error.message().to_owned()))
            };
            match &place {
                Place::Here => add(&mut state, &bytes, &Held::in_file(self.directory.join(&path), None))?,
                Place::Memory => {
                    let held = Held::in_memory(bytes);
                    if let Some(bytes) = held.bytes() {
                        add(&mut state, bytes, &held)?;
                    }
                }
                #[cfg(feature = "disk")]
                Place::Disk(kept) => {
                    let target = kept.path().join(path.replace('/', "-"));
                    let held = Held::in_file(target.clone(), Some(kept.clone()));
                    add(&mut state, &bytes, &held)?;
                    let written = seam::blocking(move || std::fs::write(&target, bytes)).await;
                    written.map_err(ReadError::Unreadable)?.map_err(|error| {
                        ReadError::Unreadable(format!("there is no room for it in `{}`: {error}", kept.path().display()))
                    })?;
                }
            }
        }
        drop(reads);
        let damaged =
            |reason: String| ReadError::Damaged(format!("`{}` is damaged: {reason}", self.directory.join(folder).display()));
        state.finish(manifest.checkpoint).map_err(damaged)
    }
}

/// A file on this machine.
async fn read_local(path: PathBuf) -> Result<Vec<u8>, object_store::Error> {
    let shown = path.display().to_string();
    let read = move || {
        let mut file = std::fs::File::open(path)?;
        let mut bytes = large_buffer(usize::try_from(file.metadata()?.len()).unwrap_or(0));
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let read = seam::blocking(read).await.unwrap_or_else(|reason| Err(std::io::Error::other(reason)));
    read.map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => object_store::Error::NotFound { path: shown, source: source.into() },
        _ => object_store::Error::Generic { store: "local", source: source.into() },
    })
}
