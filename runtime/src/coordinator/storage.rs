//! Checkpoints in a directory, through an object store: data files first, the checksummed manifest last.
//!
//! A folder without a manifest was never completed and counts for nothing. A damaged one is reported and the checkpoint
//! before it is used; if none is whole the job refuses to start rather than to begin anew in silence. Damage is what the bytes
//! say: a file that is missing, short, or has another checksum. A file that cannot be read now may be whole: that is tried again
//! and then an error, for an older checkpoint in its place would have the job do again what it has committed.
//!
//! What survives a power cut: a file is synced, gets its name by a rename, and then its folder is synced, as is every folder
//! that was made for it up to one that was there before. So a manifest that is there after a power cut has all its data files,
//! and a checkpoint that was said to be complete is there. Removals are not synced: what comes back is removed again by the next
//! retention, and the manifest goes first, so that what is half removed is not complete.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::TryStreamExt;
use object_store::path::Path as StorePath;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};

use super::lease::{self, GivenUp, Lease};
use crate::checkpoint::{DataFile, MANIFEST, Manifest, ManifestError, StateEntry, encode_entries, folder_of, number_of};
use crate::error::{JobError, JobResult};
use crate::seam::{self, Point};
use crate::storage::{create, create_durably, folder_store, local_path, retried, root_cause, scheme_of};

/// A data file that has grown so large is followed by another.
pub(super) const FILE_SIZE: usize = if cfg!(test) { 1024 } else { 16 * 1024 * 1024 };

/// A checkpoint, read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    pub manifest: Manifest,
    pub entries: Vec<StateEntry>,
}

/// What was found in a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// The newest whole checkpoint.
    pub checkpoint: Option<Checkpoint>,
    /// The highest number ever used here.
    pub highest: u64,
    /// What was wrong with newer ones, for people.
    pub warnings: Vec<String>,
    /// The directory, for people.
    pub directory: String,
}

impl Found {
    /// An error when there are checkpoints and none can be used: nothing begins anew in silence.
    pub(crate) fn usable(self) -> JobResult<Self> {
        if self.checkpoint.is_some() || self.warnings.is_empty() {
            return Ok(self);
        }
        Err(JobError::new(format!(
            "no checkpoint in `{}` can be used:\n  {}\n  repair it, or start from the beginning with --fresh",
            self.directory,
            self.warnings.join("\n  ")
        )))
    }
}

/// The checkpoints of one job.
#[derive(Debug)]
pub(crate) struct CheckpointStore {
    store: Arc<dyn ObjectStore>,
    pub(super) directory: PathBuf,
    /// Held for the life of the process: a second process on the same directory is kept out. None: only read from.
    lease: Option<Lease>,
    /// Checkpoints that count no more, where there is no lease to say so.
    pub(super) given_up: GivenUp,
    /// The run goes on from the first number: what of it is there behind it, up to the second, is to be given up.
    newer: Mutex<Option<(u64, u64, String)>>,
    /// On a local directory: nobody else on this machine needs to wait for signs of life.
    _lock: Option<File>,
}

impl CheckpointStore {
    /// Opens a directory, makes it where it is missing, and locks it.
    pub(crate) async fn open(directory: &str) -> JobResult<Self> {
        #[cfg(feature = "sim")]
        if let Some(store) = seam::store() {
            let lease = Some(Lease::take(store.clone(), directory.to_owned(), false).await?);
            return Ok(CheckpointStore { lease, ..CheckpointStore::reader(store, PathBuf::from(directory)) });
        }
        if scheme_of(directory).is_some() {
            let store = folder_store(directory)?;
            let shown = directory.trim_end_matches('/').to_owned();
            let lease = Lease::take(store.clone(), shown.clone(), false).await?;
            return Ok(CheckpointStore { lease: Some(lease), ..CheckpointStore::reader(store, PathBuf::from(shown)) });
        }
        let path = PathBuf::from(local_path(directory));
        let io = |what: &str, error: &std::io::Error| {
            JobError::io(format_args!("cannot {what} the checkpoint directory `{}`", path.display()), error).permanent()
        };
        create_durably(&path).map_err(|error| io("create", &error))?;
        // Not truncated and never removed: it is the lock that counts.
        let lock = File::create(path.join(".lock")).map_err(|error| io("write to", &error))?;
        let shown = path.display().to_string();
        let store = folder_store(&shown)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Err(lease::locked_by(&*store, &shown).await),
            Err(std::fs::TryLockError::Error(error)) => return Err(io("lock", &error)),
        }
        let lease = Lease::take(store.clone(), shown, true).await?;
        Ok(CheckpointStore { lease: Some(lease), _lock: Some(lock), ..CheckpointStore::reader(store, path) })
    }

    /// The epoch of what is written; 0: nobody holds the directory.
    pub(super) fn epoch(&self) -> u64 {
        self.lease.as_ref().map_or(0, Lease::epoch)
    }

    /// Over a store that is only read, or that nobody else writes to.
    pub(super) fn reader(store: Arc<dyn ObjectStore>, directory: PathBuf) -> Self {
        CheckpointStore { store, directory, lease: None, given_up: GivenUp::default(), newer: Mutex::new(None), _lock: None }
    }

    /// Over a store that misbehaves. With a lease: as one of several processes.
    #[cfg(test)]
    pub(super) async fn over(store: Arc<dyn ObjectStore>, leased: Option<&str>) -> JobResult<Self> {
        let lease = match leased {
            Some(shown) => Some(Lease::take(store.clone(), shown.to_owned(), false).await?),
            None => None,
        };
        Ok(CheckpointStore { lease, ..CheckpointStore::reader(store, PathBuf::from("memory")) })
    }

    #[cfg(test)]
    pub(super) fn pause(&self) {
        self.lease.iter().for_each(Lease::pause);
    }

    /// Says that this process has ended.
    pub(crate) async fn release(&self) {
        if let Some(lease) = &self.lease {
            lease.release().await;
        }
    }

    /// Waits until another process has taken the directory; that is the error.
    pub(crate) async fn lost(&self) -> JobError {
        match &self.lease {
            Some(lease) => lease.lost().await,
            None => std::future::pending().await,
        }
    }

    /// The job goes on from this checkpoint of the run that is here, 0: from none. `highest`: the highest number here.
    pub(crate) fn go_on_from(&self, checkpoint: u64, highest: u64, run: &str) {
        let newer = (highest > checkpoint).then(|| (checkpoint, highest, run.to_owned()));
        *self.newer.lock().unwrap_or_else(PoisonError::into_inner) = newer;
    }

    /// Marks what is newer than the checkpoint that the job goes on from: sinks take back what it had committed, so that nobody may
    /// ever go on from there.
    pub(crate) async fn give_up_newer(&self) -> JobResult<()> {
        let newer = self.newer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let (Some((from, to, run)), Some(lease)) = (newer, &self.lease) {
            lease.give_up(from, to, run).await?;
        }
        Ok(())
    }

    async fn still_held(&self) -> JobResult<()> {
        match &self.lease {
            Some(lease) => lease.check().await,
            None => Ok(()),
        }
    }

    async fn given_up(&self) -> GivenUp {
        match &self.lease {
            Some(lease) => lease.given_up().await,
            None => self.given_up.clone(),
        }
    }

    /// The folder of a checkpoint.
    pub(crate) fn folder(&self, id: u64) -> PathBuf {
        self.directory.join(folder_of(id))
    }

    /// Where it is.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes a checkpoint: the data files side by side, then the manifest. One that fails leaves nothing that takes up room: the
    /// disk may be full.
    pub(crate) async fn write(&self, manifest: Manifest, entries: Vec<StateEntry>) -> JobResult<()> {
        self.write_folder(&folder_of(manifest.checkpoint), manifest, entries).await
    }

    pub(super) async fn write_folder(&self, folder: &str, manifest: Manifest, entries: Vec<StateEntry>) -> JobResult<()> {
        let mut result = self.write_files(folder, manifest, entries).await;
        if result.is_ok() {
            // Behind the manifest: see the module `lease`.
            result = match seam::reach(Point::Written).await {
                Ok(()) => self.still_held().await,
                failed => failed,
            };
        }
        if result.is_err() && self.still_held().await.is_ok() {
            // If it fails, too, the next retention does it.
            let _ = self.remove_folder(folder, |_| true).await;
        }
        result
    }

    async fn write_files(&self, folder: &str, mut manifest: Manifest, entries: Vec<StateEntry>) -> JobResult<()> {
        if let Some(lease) = &self.lease {
            manifest.epoch = lease.epoch();
        }
        let mut writes = Vec::new();
        for (number, entries) in pack(entries).into_iter().enumerate() {
            // A process that lost the directory may be writing into the same folder.
            let name =
                if manifest.epoch == 0 { format!("{number:04}.state") } else { format!("{number:04}-{}.state", manifest.epoch) };
            let bytes = encode_entries(&entries);
            let path = format!("{folder}/{name}");
            manifest.files.push(DataFile::of(name, &bytes));
            writes.push(async move { self.put(&path, bytes).await });
        }
        // All of them to their end: none may still be on its way when the folder is removed.
        for written in futures_util::future::join_all(writes).await {
            written?;
        }
        seam::reach(Point::Manifest).await?;
        let path = format!("{folder}/{MANIFEST}");
        let alone = self.lease.as_ref().is_none_or(Lease::locked);
        create(&*self.store, &StorePath::from(path.as_str()), manifest.to_bytes(), alone).await.map_err(|error| {
            let reason = match error {
                object_store::Error::AlreadyExists { .. } => "another process has written one of this number".to_owned(),
                error => root_cause(&error),
            };
            JobError::transient(format!("cannot write `{}`: {reason}", self.directory.join(path).display()))
        })
    }

    async fn put(&self, path: &str, bytes: Vec<u8>) -> JobResult<()> {
        let target = StorePath::from(path);
        let payload = PutPayload::from(bytes);
        retried(|| self.store.put(&target, payload.clone())).await.map_err(|error| {
            JobError::transient(format!("cannot write `{}`: {}", self.directory.join(path).display(), root_cause(&error)))
        })?;
        Ok(())
    }

    async fn get(&self, path: &str) -> Result<Vec<u8>, object_store::Error> {
        let path = StorePath::from(path);
        let bytes = retried(|| async { self.store.get(&path).await?.bytes().await }).await?;
        Ok(bytes.to_vec())
    }

    /// The newest whole checkpoint of this job. An error when there are checkpoints and none can be used.
    pub(crate) async fn latest(&self, job: &str) -> JobResult<Found> {
        self.search(job).await?.usable()
    }

    /// The same, but for checkpoints that cannot be used: they are in the warnings.
    pub(crate) async fn search(&self, job: &str) -> JobResult<Found> {
        let ids = self.ids().await?;
        let mut found = Found {
            highest: ids.last().copied().unwrap_or(0),
            directory: self.directory.display().to_string(),
            ..Found::default()
        };
        for &id in ids.iter().rev() {
            match self.read(&folder_of(id), job).await {
                Ok(Some(checkpoint)) => {
                    found.checkpoint = Some(checkpoint);
                    return Ok(found);
                }
                Ok(None) => {}
                Err(ReadError::Damaged(reason) | ReadError::GivenUp(reason)) => found.warnings.push(reason),
                Err(ReadError::Refused(reason)) => return Err(JobError::new(reason)),
                Err(ReadError::Unreadable(reason)) => return Err(self.unreadable(&reason, id, &ids)),
            }
        }
        Ok(found)
    }

    fn unreadable(&self, reason: &str, id: u64, ids: &[u64]) -> JobError {
        let before = ids.iter().rev().find(|&&before| before < id);
        let older = before
            .map_or(String::new(), |&before| format!("go on from an older one with --from {}, ", self.folder(before).display()));
        JobError::transient(format!(
            "checkpoint {id} may be whole, but {reason} (tried several times)\n  start again when the storage works; or {older}start from the \
             beginning with --fresh"
        ))
    }

    /// The numbers of all checkpoint folders, complete or not, in order.
    pub(super) async fn ids(&self) -> JobResult<Vec<u64>> {
        ids(&*self.store).await.map_err(|error| {
            JobError::transient(format!(
                "cannot read the checkpoint directory `{}`: {}",
                self.directory.display(),
                root_cause(&error)
            ))
        })
    }

    pub(super) async fn read(&self, folder: &str, job: &str) -> Result<Option<Checkpoint>, ReadError> {
        let shown = |name: &str| self.directory.join(folder).join(name).display().to_string();
        let bytes = match self.get(&format!("{folder}/{MANIFEST}")).await {
            Ok(bytes) => bytes,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => {
                return Err(ReadError::Unreadable(format!("`{}` cannot be read: {}", shown(MANIFEST), root_cause(&error))));
            }
        };
        let manifest = match Manifest::from_bytes(&bytes) {
            Ok(manifest) => manifest,
            Err(ManifestError::Corrupt(reason)) => {
                return Err(ReadError::Damaged(format!("`{}` is damaged: {reason}", shown(MANIFEST))));
            }
            Err(ManifestError::Newer(version)) => {
                return Err(ReadError::Refused(format!(
                    "`{}` was written by a newer version (format {version}, this one knows {}); build the job with that version, or \
                     start from the beginning with --fresh",
                    shown(MANIFEST),
                    crate::checkpoint::FORMAT
                )));
            }
        };
        if manifest.job != job {
            return Err(ReadError::Refused(format!(
                "the checkpoint directory `{}` belongs to the job `{}`, this is `{job}`; give it a directory of its own (--checkpoint-dir)",
                self.directory.display(),
                manifest.job
            )));
        }
        let given_up = self.given_up().await;
        let reason = match number_of(folder) {
            Some(_) => given_up.reason(&manifest),
            None => given_up.reason_of_savepoint(&manifest),
        };
        if let Some(reason) = reason {
            return Err(ReadError::GivenUp(format!("`{}` counts no more: {reason}", self.directory.join(folder).display())));
        }
        let mut entries = Vec::new();
        for file in &manifest.files {
            let bytes = self.get(&format!("{folder}/{}", file.name)).await.map_err(|error| match error {
                object_store::Error::NotFound { .. } => ReadError::Damaged(format!("`{}` is missing", shown(&file.name))),
                error => ReadError::Unreadable(format!("`{}` cannot be read: {}", shown(&file.name), root_cause(&error))),
            })?;
            let damaged = |reason: String| ReadError::Damaged(format!("`{}` is damaged: {reason}", shown(&file.name)));
            entries.extend(file.entries(&bytes).map_err(damaged)?);
        }
        Ok(Some(Checkpoint { manifest, entries }))
    }

    /// Removes all checkpoints but the newest `retain` up to `newest`, and what never completed before it. Gives how many
    /// are left.
    pub(crate) async fn retain(&self, newest: u64, retain: usize) -> JobResult<usize> {
        let given_up = self.given_up().await;
        let mut kept = 1;
        for id in self.ids().await?.into_iter().rev().filter(|&id| id < newest) {
            let manifest = StorePath::from(format!("{}/{MANIFEST}", folder_of(id)));
            let complete = match retried(|| self.store.head(&manifest)).await {
                Ok(_) => true,
                Err(object_store::Error::NotFound { .. }) => false,
                // Nobody knows: it stays, until a later retention.
                Err(_) => continue,
            };
            let counts = complete && !(given_up.names(id) && self.is_given_up(&manifest, &given_up).await);
            if counts && kept < retain {
                kept += 1;
            } else {
                self.remove(id).await?;
            }
        }
        Ok(kept)
    }

    /// Whether a whole checkpoint counts no more. One that cannot be read is for others to judge.
    async fn is_given_up(&self, manifest: &StorePath, given_up: &GivenUp) -> bool {
        let bytes = self.get(manifest.as_ref()).await.ok();
        let manifest = bytes.and_then(|bytes| Manifest::from_bytes(&bytes).ok());
        manifest.is_some_and(|manifest| given_up.reason(&manifest).is_some())
    }

    /// Removes all checkpoints.
    pub(crate) async fn clear(&self) -> JobResult<()> {
        self.still_held().await?;
        for id in self.ids().await? {
            self.remove(id).await?;
        }
        Ok(())
    }

    /// Removes one checkpoint, its manifest first: half a removal leaves nothing that looks whole.
    pub(super) async fn remove(&self, id: u64) -> JobResult<()> {
        self.remove_folder(&folder_of(id), |_| true).await
    }

    /// Removes a manifest, and then the files of its folder for which `goes` says so.
    pub(super) async fn remove_folder(&self, folder: &str, goes: impl Fn(&StorePath) -> bool) -> JobResult<()> {
        let failed = |error: object_store::Error| {
            JobError::transient(format!("cannot remove `{}`: {}", self.directory.join(folder).display(), root_cause(&error)))
        };
        match self.store.delete(&StorePath::from(format!("{folder}/{MANIFEST}"))).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => return Err(failed(error)),
        }
        let prefix = StorePath::from(folder);
        let files: Vec<_> = self.store.list(Some(&prefix)).try_collect().await.map_err(failed)?;
        for file in files.iter().filter(|file| goes(&file.location)) {
            match self.store.delete(&file.location).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(failed(error)),
            }
        }
        if self._lock.is_some() {
            let _ = std::fs::remove_dir_all(self.directory.join(folder));
        }
        Ok(())
    }
}

/// The numbers of all checkpoint folders in a store, in order.
pub(super) async fn ids(store: &dyn ObjectStore) -> Result<Vec<u64>, object_store::Error> {
    let listed = retried(|| store.list_with_delimiter(None)).await?;
    let id = |folder: &StorePath| number_of(folder.filename()?);
    let mut ids: Vec<u64> = listed.common_prefixes.iter().filter_map(id).collect();
    ids.sort_unstable();
    Ok(ids)
}

/// Entries by data file: few files, as each costs a sync, but none that is huge.
fn pack(entries: Vec<StateEntry>) -> Vec<Vec<StateEntry>> {
    let mut files: Vec<Vec<StateEntry>> = Vec::new();
    let mut size = usize::MAX;
    for entry in entries {
        if size >= FILE_SIZE {
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

pub(super) enum ReadError {
    /// It is not what was written. An older checkpoint may be whole.
    Damaged(String),
    /// It is whole and must not be used any more.
    GivenUp(String),
    /// The storage does not give it now.
    Unreadable(String),
    /// Using an older one would be wrong.
    Refused(String),
}
