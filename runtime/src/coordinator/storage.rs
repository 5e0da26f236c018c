//! Checkpoints in a directory, through an object store: data files first, the checksummed manifest last.
//!
//! A folder without a manifest was never completed and counts for nothing. A damaged one is reported and the checkpoint
//! before it is used; if none is whole the job refuses to start rather than to begin anew in silence. Damage is what the bytes
//! say: a file that is missing, short, or has another checksum. A file that cannot be read now may be whole: that is tried again
//! and then an error, for an older checkpoint in its place would have the job do again what it has committed.
//!
//! What survives a power cut: a file is synced, gets its name by a rename, and then its folder is synced, as is every folder
//! that was made for it up to one that was there before. A large data file on this machine has its name from the start: nobody looks for it
//! before a manifest names it. So a manifest that is there after a power cut has all its data files,
//! and a checkpoint that was said to be complete is there. Removals are not synced: what comes back is removed again by the next
//! retention, and the manifest goes first, so that what is half removed is not complete.

use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use object_store::path::Path as StorePath;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};

use super::compaction::NotCompacted;
use super::contents::{Contents, encode_file};
use super::files::{Files, Landing, file_size, pack};
use super::lease::{self, GivenUp, Lease};
use super::lineage::Plan;
use super::retention::Retention;
use crate::checkpoint::{
    Contained, DataFile, MANIFEST, Manifest, ManifestError, PieceFile, StateEntry, StoredGroup, encode_entries, folder_of,
    number_of,
};
use crate::error::{ErrorKind, JobError, JobResult};
use crate::seam::{self, Point};
use crate::storage::{LARGE, create, create_durably, folder_store, local_path, retried, root_cause, scheme_of, write_durably};

/// A lock is asked for so often before somebody is said to hold it. A program that the process before has just started has all its
/// open files, and so its lock, until it runs; that takes milliseconds.
const LOCK_TRIES: u32 = 40;
const LOCK_PAUSE: Duration = Duration::from_millis(25);

/// A checkpoint, read back.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoint {
    pub manifest: Manifest,
    /// What goes with no key.
    pub entries: Vec<StateEntry>,
    /// Key groups, which are read when they are wanted.
    pub groups: Vec<StoredGroup>,
    /// The files with pieces of key groups, on which others may build.
    pub to_build_upon: Vec<Arc<PieceFile>>,
}

/// A checkpoint is written.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Bytes of its data files.
    pub size: u64,
    /// The files that others may build upon.
    pub to_build_upon: Vec<Arc<PieceFile>>,
}

/// What was found in a directory.
#[derive(Clone, Debug, Default)]
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
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) directory: PathBuf,
    /// Held for the life of the process: a second process on the same directory is kept out. None: only read from.
    lease: Option<Lease>,
    /// Checkpoints that count no more, where there is no lease to say so.
    pub(super) given_up: GivenUp,
    /// The run goes on from the first number: what of it is there behind it, up to the second, is to be given up.
    newer: Mutex<Option<(u64, u64, String)>>,
    /// On a local directory: nobody else on this machine needs to wait for signs of life.
    pub(super) lock: Option<File>,
    pub(super) retention: Retention,
    /// Its files can be read and written as such, by their path.
    pub(super) is_local: bool,
    /// Where not, this is where key groups wait until they are restored.
    pub(super) landing: Landing,
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
        let mut tries = LOCK_TRIES;
        while let Err(error) = lock.try_lock() {
            match error {
                std::fs::TryLockError::WouldBlock if tries > 0 => {
                    tries -= 1;
                    tokio::time::sleep(LOCK_PAUSE).await;
                }
                std::fs::TryLockError::WouldBlock => return Err(lease::locked_by(&*store, &shown).await),
                std::fs::TryLockError::Error(error) => return Err(io("lock", &error)),
            }
        }
        let lease = Lease::take(store.clone(), shown, true).await?;
        Ok(CheckpointStore { lease: Some(lease), lock: Some(lock), is_local: true, ..CheckpointStore::reader(store, path) })
    }

    /// The epoch of what is written; 0: nobody holds the directory.
    pub(super) fn epoch(&self) -> u64 {
        self.lease.as_ref().map_or(0, Lease::epoch)
    }

    /// Over a store that is only read, or that nobody else writes to.
    pub(super) fn reader(store: Arc<dyn ObjectStore>, directory: PathBuf) -> Self {
        CheckpointStore {
            store,
            directory,
            lease: None,
            given_up: GivenUp::default(),
            newer: Mutex::new(None),
            lock: None,
            retention: Retention::default(),
            is_local: false,
            landing: Landing::Memory,
        }
    }

    /// The same, with a place for key groups that wait to be restored.
    pub(crate) fn landing_on(self, landing: Landing) -> Self {
        CheckpointStore { landing, ..self }
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
    /// ever go on from there. An error also when another process has taken the directory: then what is newer is its own.
    pub(crate) async fn give_up_newer(&self) -> JobResult<()> {
        let newer = self.newer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match (newer, &self.lease) {
            (Some((from, to, run)), Some(lease)) => lease.give_up(from, to, run).await,
            _ => self.still_held().await,
        }
    }

    pub(super) async fn still_held(&self) -> JobResult<()> {
        match &self.lease {
            Some(lease) => lease.check().await,
            None => Ok(()),
        }
    }

    pub(super) async fn given_up(&self) -> GivenUp {
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

    /// Writes a checkpoint: the data files, then the manifest. One that fails leaves nothing that takes up room: the disk may be full.
    pub(crate) async fn write(&self, manifest: Manifest, contents: Contents) -> JobResult<Written> {
        self.write_folder(&folder_of(manifest.checkpoint), manifest, contents, None).await
    }

    /// `upon`: with what these files have, which are there.
    pub(super) async fn write_folder(
        &self,
        folder: &str,
        manifest: Manifest,
        contents: Contents,
        upon: Option<(&CheckpointStore, &Plan)>,
    ) -> JobResult<Written> {
        let mut result = self.write_files(folder, manifest, contents, upon).await;
        if result.is_ok() {
            // Behind the manifest: see the module `lease`.
            let held = match seam::reach(Point::Written).await {
                Ok(()) => self.still_held().await,
                failed => failed,
            };
            result = held.and(result);
        }
        if result.is_err() {
            match self.still_held().await {
                // If it fails, too, the next retention does it.
                Ok(()) => drop(self.remove_folder(folder, |_| true).await),
                // What is there may be of the process that has the directory now, and that is what is wrong.
                Err(lost) if lost.kind() != ErrorKind::Transient => return Err(lost),
                Err(_) => {}
            }
        }
        result
    }

    async fn write_files(
        &self,
        folder: &str,
        mut manifest: Manifest,
        contents: Contents,
        upon: Option<(&CheckpointStore, &Plan)>,
    ) -> JobResult<Written> {
        let Contents { entries, pieces, unreadable } = contents;
        if let Some(lease) = &self.lease {
            manifest.epoch = lease.epoch();
        }
        let mut files = Files::new(self, folder, manifest.epoch);
        let mut in_pieces = Vec::new();
        let mut rest = VecDeque::from(pieces);
        let mut written = Ok(());
        if let Some((from, plan)) = upon {
            match from.put_together(plan, &mut files, &AtomicBool::new(false)).await {
                Ok(pieces) => in_pieces = pieces,
                Err(NotCompacted::Failed(error)) => written = Err(error),
                Err(NotCompacted::Damaged(reason)) => {
                    unreadable.store(true, SeqCst);
                    written = Err(JobError::transient(reason));
                }
            }
        }
        while !rest.is_empty() && written.is_ok() {
            let spare = files.spare();
            let encoding = seam::blocking(move || {
                let encoded = encode_file(&mut rest, file_size(), spare);
                (rest, encoded)
            });
            let encoded = files.beside(encoding).await;
            (rest, written) = match encoded {
                Ok((rest, Ok((bytes, pieces)))) => {
                    in_pieces.push(pieces);
                    (rest, files.add(bytes).await)
                }
                failed => {
                    unreadable.store(true, SeqCst);
                    let error = match failed {
                        Ok((_, failed)) => failed.map(drop),
                        Err(reason) => Err(JobError::transient(format!("encoding its state panicked: {reason}"))),
                    };
                    (VecDeque::new(), error)
                }
            };
        }
        for entries in pack(entries) {
            if written.is_ok() {
                written = files.add(encode_entries(&entries).into()).await;
            }
        }
        let files = files.finish(written).await?;
        // Others build upon pieces, and upon nothing else.
        let own = |file: &DataFile| DataFile { of: Some(manifest.checkpoint), ..file.clone() };
        let with_pieces = files.iter().zip(in_pieces);
        let to_build_upon = with_pieces.map(|(file, pieces)| Arc::new(PieceFile { file: own(file), pieces })).collect();
        let size = files.iter().map(|file| file.size).sum();
        manifest.files.extend(files);
        seam::reach(Point::Manifest).await?;
        let path = format!("{folder}/{MANIFEST}");
        let alone = self.lease.as_ref().is_none_or(Lease::locked);
        create(&*self.store, &StorePath::from(path.as_str()), manifest.to_bytes(), alone).await.map_err(|error| {
            let reason = match error {
                object_store::Error::AlreadyExists { .. } => "another process has written one of this number".to_owned(),
                error => root_cause(&error),
            };
            JobError::transient(format!("cannot write `{}`: {reason}", self.directory.join(path).display()))
        })?;
        self.retention.wrote(&manifest);
        Ok(Written { size, to_build_upon })
    }

    pub(super) async fn put(&self, path: &str, bytes: Bytes) -> JobResult<()> {
        let target = StorePath::from(path);
        let put = async || match self.is_local && bytes.len() >= LARGE {
            true => write_local(self.directory.join(path), bytes.clone()).await,
            false => self.store.put(&target, PutPayload::from(bytes.clone())).await.map(drop),
        };
        retried(put).await.map_err(|error| {
            JobError::transient(format!("cannot write `{}`: {}", self.directory.join(path).display(), root_cause(&error)))
        })?;
        Ok(())
    }

    pub(super) async fn get(&self, path: &str) -> Result<Vec<u8>, object_store::Error> {
        let path = StorePath::from(path);
        let bytes = retried(|| async { self.store.get(&path).await?.bytes().await }).await?;
        Ok(Vec::from(bytes))
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
                Err(ReadError::OfJob(other)) => {
                    return Err(self.of_job(&other, job));
                }
                Err(ReadError::Unreadable(reason)) => return Err(self.unreadable(&reason, id, &ids)),
            }
        }
        Ok(found)
    }

    /// Fails if a checkpoint that is there says that it is of another job, so that it is not for this one to remove.
    pub(crate) async fn check_owner(&self, job: &str) -> JobResult<()> {
        for id in self.ids().await? {
            let path = format!("{}/{MANIFEST}", folder_of(id));
            match self.get(&path).await.map(|bytes| Manifest::from_bytes(&bytes)) {
                Ok(Ok(manifest)) if manifest.job != job => return Err(self.of_job(&manifest.job, job)),
                // What nobody can read is nobody's.
                Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => {
                    let directory = self.directory.display();
                    return Err(JobError::transient(format!(
                        "cannot read `{path}` in the checkpoint directory `{directory}`: {}",
                        root_cause(&error)
                    )));
                }
            }
        }
        Ok(())
    }

    fn of_job(&self, other: &str, job: &str) -> JobError {
        JobError::new(format!(
            "the checkpoint directory `{}` belongs to the job `{other}`, this is `{job}`; give it a directory of its own (--checkpoint-dir)",
            self.directory.display()
        ))
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
        self.read_without(folder, job, &HashSet::new()).await
    }

    /// The same, but for what is in these files.
    pub(super) async fn read_without(
        &self,
        folder: &str,
        job: &str,
        left_out: &HashSet<String>,
    ) -> Result<Option<Checkpoint>, ReadError> {
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
            return Err(ReadError::OfJob(manifest.job));
        }
        let given_up = self.given_up().await;
        let reason = match number_of(folder) {
            Some(_) => given_up.reason(&manifest),
            None => given_up.reason_of_savepoint(&manifest),
        };
        if let Some(reason) = reason {
            return Err(ReadError::GivenUp(format!("`{}` counts no more: {reason}", self.directory.join(folder).display())));
        }
        let mut wanted = manifest.clone();
        wanted.files.retain(|file| !left_out.contains(&file.path(folder)));
        let Contained { entries, groups, files } = self.read_files(folder, &wanted).await?;
        let own = |file: Arc<PieceFile>| match file.file.of {
            Some(_) => file,
            None => {
                let mut file = Arc::unwrap_or_clone(file);
                file.file.of = Some(manifest.checkpoint);
                Arc::new(file)
            }
        };
        let to_build_upon = files.into_iter().map(own).collect();
        Ok(Some(Checkpoint { manifest, entries, groups, to_build_upon }))
    }
}

/// A large file on this machine.
async fn write_local(path: PathBuf, bytes: Bytes) -> Result<(), object_store::Error> {
    let written = seam::blocking(move || write_durably(&path, &bytes)).await;
    let written = written.unwrap_or_else(|reason| Err(std::io::Error::other(reason)));
    written.map_err(|error| object_store::Error::Generic { store: "local", source: error.into() })
}

/// The numbers of all checkpoint folders in a store, in order.
pub(super) async fn ids(store: &dyn ObjectStore) -> Result<Vec<u64>, object_store::Error> {
    let listed = retried(|| store.list_with_delimiter(None)).await?;
    let id = |folder: &StorePath| number_of(folder.filename()?);
    let mut ids: Vec<u64> = listed.common_prefixes.iter().filter_map(id).collect();
    ids.sort_unstable();
    Ok(ids)
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
    /// It is of this other job.
    OfJob(String),
}
