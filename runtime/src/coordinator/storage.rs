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
use std::sync::Arc;

use futures_util::TryStreamExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path as StorePath;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};

use crate::checkpoint::{DataFile, MANIFEST, Manifest, ManifestError, StateEntry, encode_entries, folder_of, number_of};
use crate::error::{JobError, JobResult};
use crate::storage::{create_durably, retried, root_cause};

/// A data file that has grown so large is followed by another.
const FILE_SIZE: usize = if cfg!(test) { 1024 } else { 16 * 1024 * 1024 };

/// A checkpoint, read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    pub manifest: Manifest,
    pub entries: Vec<StateEntry>,
}

/// What was found in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The newest whole checkpoint.
    pub checkpoint: Option<Checkpoint>,
    /// The highest number ever used here.
    pub highest: u64,
    /// What was wrong with newer ones, for people.
    pub warnings: Vec<String>,
}

/// The checkpoints of one job.
#[derive(Debug)]
pub(crate) struct CheckpointStore {
    store: Arc<dyn ObjectStore>,
    directory: PathBuf,
    /// Held for the life of the process: a second process on the same directory is kept out.
    /// None: only read from.
    _lock: Option<File>,
}

impl CheckpointStore {
    /// Opens a directory, makes it where it is missing, and locks it.
    pub(crate) fn open(directory: &str) -> JobResult<Self> {
        let path = directory.strip_prefix("file://").unwrap_or(directory);
        if let Some((scheme, _)) = path.split_once("://") {
            return Err(JobError::new(format!("checkpoints cannot go to `{scheme}://` yet, only to a local directory")));
        }
        let path = PathBuf::from(path);
        let io = |what: &str, error: &std::io::Error| {
            JobError::io(format_args!("cannot {what} the checkpoint directory `{}`", path.display()), error).permanent()
        };
        create_durably(&path).map_err(|error| io("create", &error))?;
        let lock = File::create(path.join(".lock")).map_err(|error| io("write to", &error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(JobError::new(format!(
                    "another process is running with the checkpoint directory `{}`; wait for it, stop it, or give this one another \
                     directory (--checkpoint-dir)",
                    path.display()
                )));
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(io("lock", &error)),
        }
        let store = LocalFileSystem::new_with_prefix(&path)
            .map_err(|error| JobError::new(format!("cannot open the checkpoint directory `{}`: {error}", path.display())))?
            .with_fsync(true);
        Ok(CheckpointStore { store: Arc::new(store), directory: path, _lock: Some(lock) })
    }

    /// Reads a checkpoint that somebody names: its own folder, or a directory of which the newest is taken. Takes no lock.
    pub(crate) async fn named(path: &Path, job: &str) -> JobResult<Checkpoint> {
        let cannot = |reason: String| JobError::new(format!("cannot resume from `{}`: {reason}", path.display()));
        let id = path.file_name().and_then(|name| number_of(name.to_str()?));
        let directory = match (id, path.parent()) {
            // A name alone is one in the working directory.
            (Some(_), Some(parent)) if parent.as_os_str().is_empty() => Path::new("."),
            (Some(_), Some(parent)) => parent,
            _ => path,
        };
        let store = LocalFileSystem::new_with_prefix(directory).map_err(|error| cannot(root_cause(&error)))?;
        let store = CheckpointStore { store: Arc::new(store), directory: directory.to_owned(), _lock: None };
        let checkpoint = match id {
            Some(id) => store.read(id, job).await.map_err(|error| match error {
                ReadError::Damaged(reason) | ReadError::Refused(reason) | ReadError::Unreadable(reason) => cannot(reason),
            })?,
            None => store.latest(job).await?.checkpoint,
        };
        checkpoint.ok_or_else(|| cannot("there is no complete checkpoint".to_owned()))
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
        let id = manifest.checkpoint;
        let result = self.write_files(manifest, entries).await;
        if result.is_err() {
            // If it fails, too, the next retention does it.
            let _ = self.remove(id).await;
        }
        result
    }

    async fn write_files(&self, mut manifest: Manifest, entries: Vec<StateEntry>) -> JobResult<()> {
        let folder = folder_of(manifest.checkpoint);
        let mut writes = Vec::new();
        for (number, entries) in pack(entries).into_iter().enumerate() {
            let name = format!("{number:04}.state");
            let bytes = encode_entries(&entries);
            let path = format!("{folder}/{name}");
            manifest.files.push(DataFile::of(name, &bytes));
            writes.push(async move { self.put(&path, bytes).await });
        }
        // All of them to their end: none may still be on its way when the folder is removed.
        for written in futures_util::future::join_all(writes).await {
            written?;
        }
        self.put(&format!("{folder}/{MANIFEST}"), manifest.to_bytes()).await
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
        let mut ids = self.ids().await?;
        ids.sort_unstable();
        let mut found = Found { checkpoint: None, highest: ids.last().copied().unwrap_or(0), warnings: Vec::new() };
        for &id in ids.iter().rev() {
            match self.read(id, job).await {
                Ok(Some(checkpoint)) => {
                    found.checkpoint = Some(checkpoint);
                    return Ok(found);
                }
                Ok(None) => {}
                Err(ReadError::Damaged(reason)) => found.warnings.push(reason),
                Err(ReadError::Refused(reason)) => return Err(JobError::new(reason)),
                Err(ReadError::Unreadable(reason)) => return Err(self.unreadable(&reason, id, &ids)),
            }
        }
        if found.warnings.is_empty() {
            return Ok(found);
        }
        Err(JobError::new(format!(
            "no checkpoint in `{}` can be used:\n  {}\n  repair it, or start from the beginning with --fresh",
            self.directory.display(),
            found.warnings.join("\n  ")
        )))
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

    /// The numbers of all checkpoint folders, complete or not.
    async fn ids(&self) -> JobResult<Vec<u64>> {
        let listed = retried(|| self.store.list_with_delimiter(None)).await.map_err(|error| {
            JobError::new(format!("cannot read the checkpoint directory `{}`: {}", self.directory.display(), root_cause(&error)))
        })?;
        let id = |folder: &StorePath| number_of(folder.filename()?);
        Ok(listed.common_prefixes.iter().filter_map(id).collect())
    }

    async fn read(&self, id: u64, job: &str) -> Result<Option<Checkpoint>, ReadError> {
        let folder = folder_of(id);
        let shown = |name: &str| self.directory.join(&folder).join(name).display().to_string();
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

    /// Removes all checkpoints but the newest `retain` up to `newest`, and what never completed before it.
    pub(crate) async fn retain(&self, newest: u64, retain: usize) -> JobResult<()> {
        let mut ids: Vec<_> = self.ids().await?.into_iter().filter(|&id| id < newest).collect();
        ids.sort_unstable_by(|a, b| b.cmp(a));
        let mut kept = 1;
        for id in ids {
            let manifest = StorePath::from(format!("{}/{MANIFEST}", folder_of(id)));
            let complete = match retried(|| self.store.head(&manifest)).await {
                Ok(_) => true,
                Err(object_store::Error::NotFound { .. }) => false,
                // Nobody knows: it stays, until a later retention.
                Err(_) => continue,
            };
            if complete && kept < retain {
                kept += 1;
            } else {
                self.remove(id).await?;
            }
        }
        Ok(())
    }

    /// Removes all checkpoints.
    pub(crate) async fn clear(&self) -> JobResult<()> {
        let mut ids = self.ids().await?;
        ids.sort_unstable();
        for id in ids {
            self.remove(id).await?;
        }
        Ok(())
    }

    /// Removes one checkpoint, its manifest first: half a removal leaves nothing that looks whole.
    pub(super) async fn remove(&self, id: u64) -> JobResult<()> {
        let folder = folder_of(id);
        let failed = |error: object_store::Error| {
            JobError::transient(format!("cannot remove `{}`: {}", self.directory.join(&folder).display(), root_cause(&error)))
        };
        match self.store.delete(&StorePath::from(format!("{folder}/{MANIFEST}"))).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => return Err(failed(error)),
        }
        let prefix = StorePath::from(folder.as_str());
        let files: Vec<_> = self.store.list(Some(&prefix)).try_collect().await.map_err(failed)?;
        for file in files {
            match self.store.delete(&file.location).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(failed(error)),
            }
        }
        let _ = std::fs::remove_dir_all(self.directory.join(&folder));
        Ok(())
    }
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

enum ReadError {
    /// It is not what was written. An older checkpoint may be whole.
    Damaged(String),
    /// The storage does not give it now.
    Unreadable(String),
    /// Using an older one would be wrong.
    Refused(String),
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::checkpoint::Part;
    use crate::checkpoint::sample;

    impl CheckpointStore {
        /// Over a store that misbehaves.
        pub(in crate::coordinator) fn over(store: Arc<dyn ObjectStore>) -> Self {
            CheckpointStore { store, directory: PathBuf::from("memory"), _lock: None }
        }
    }

    pub(in crate::coordinator) fn manifest(checkpoint: u64) -> Manifest {
        Manifest { checkpoint, files: Vec::new(), ..sample() }
    }

    /// Enough for two data files.
    pub(in crate::coordinator) fn parts(checkpoint: u64) -> Vec<StateEntry> {
        let entry = |part| StateEntry { uid: "u".into(), state: "s".into(), schema: "int64".into(), subtask: 0, part };
        let mut large = vec![0; FILE_SIZE];
        large[0] = u8::try_from(checkpoint).unwrap();
        vec![entry(Part::Group(3, large)), entry(Part::Item(vec![7; 100]))]
    }

    /// A store with the checkpoints 1 and 2, then damaged.
    async fn damaged(damage: impl FnOnce(&Path)) -> (tempfile::TempDir, JobResult<Found>) {
        let directory = tempfile::tempdir().unwrap();
        let store = CheckpointStore::open(directory.path().to_str().unwrap()).unwrap();
        store.write(manifest(1), parts(1)).await.unwrap();
        store.write(manifest(2), parts(2)).await.unwrap();
        damage(&directory.path().join("checkpoint-000002"));
        let found = store.latest("flight_delays").await;
        (directory, found)
    }

    fn number(found: &JobResult<Found>) -> Option<u64> {
        found.as_ref().ok()?.checkpoint.as_ref().map(|checkpoint| checkpoint.manifest.checkpoint)
    }

    #[tokio::test]
    async fn the_newest_whole_checkpoint_is_found() {
        let (_directory, found) = damaged(|_| {}).await;
        assert_eq!(number(&found), Some(2));
        let found = found.unwrap();
        assert_eq!(found.warnings, [""; 0]);
        assert_eq!(found.checkpoint.unwrap().entries.len(), 2);
    }

    #[tokio::test]
    async fn a_damaged_checkpoint_is_reported_and_the_one_before_is_used() {
        let flip = |path: PathBuf| {
            let mut bytes = std::fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            std::fs::write(&path, bytes).unwrap();
        };
        let cut = |path: PathBuf| {
            let bytes = std::fs::read(&path).unwrap();
            std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        };
        let cases: [(&str, Box<dyn FnOnce(&Path)>); 6] = [
            ("0000.state` is damaged: its checksum is wrong", Box::new(|folder| flip(folder.join("0000.state")))),
            ("0001.state` is damaged: 1", Box::new(|folder| cut(folder.join("0001.state")))),
            ("0001.state` is missing", Box::new(|folder| std::fs::remove_file(folder.join("0001.state")).unwrap())),
            ("manifest.json` is damaged: its checksum", Box::new(|folder| flip(folder.join(MANIFEST)))),
            ("manifest.json` is damaged: its end", Box::new(|folder| cut(folder.join(MANIFEST)))),
            ("manifest.json` is damaged: it is empty", Box::new(|folder| std::fs::write(folder.join(MANIFEST), "").unwrap())),
        ];
        for (expected, damage) in cases {
            let (_directory, found) = damaged(damage).await;
            assert_eq!(number(&found), Some(1), "{expected}");
            let warnings = found.unwrap().warnings;
            assert!(warnings.len() == 1 && warnings[0].contains(expected), "{expected}: {warnings:?}");
        }
    }

    #[tokio::test]
    async fn a_checkpoint_that_never_completed_counts_for_nothing() {
        let (_directory, found) = damaged(|folder| std::fs::remove_file(folder.join(MANIFEST)).unwrap()).await;
        assert_eq!(number(&found), Some(1));
        let found = found.unwrap();
        assert_eq!((found.warnings.len(), found.highest), (0, 2), "no warning, but its number is not used again");
    }

    #[tokio::test]
    async fn nothing_whole_is_no_silent_start_from_the_beginning() {
        let (_directory, found) = damaged(|folder| {
            std::fs::write(folder.join(MANIFEST), "").unwrap();
            std::fs::write(folder.with_file_name("checkpoint-000001").join(MANIFEST), "{").unwrap();
        })
        .await;
        let message = found.unwrap_err().message().to_owned();
        assert!(message.contains("checkpoint-000001") && message.contains("--fresh"), "{message}");
    }

    #[tokio::test]
    async fn another_jobs_checkpoints_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let store = CheckpointStore::open(directory.path().to_str().unwrap()).unwrap();
        assert_eq!(store.latest("x").await.unwrap(), Found { checkpoint: None, highest: 0, warnings: Vec::new() });
        store.write(manifest(1), parts(1)).await.unwrap();
        let message = store.latest("other").await.unwrap_err().message().to_owned();
        assert!(message.contains("belongs to the job `flight_delays`"), "{message}");
    }

    #[tokio::test]
    async fn a_second_process_is_kept_out() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_str().unwrap();
        let first = CheckpointStore::open(path).unwrap();
        assert!(CheckpointStore::open(path).unwrap_err().message().contains("another process"));
        drop(first);
        assert!(CheckpointStore::open(path).is_ok());
    }

    #[tokio::test]
    async fn old_checkpoints_go_and_the_newest_stay() {
        let directory = tempfile::tempdir().unwrap();
        let store = CheckpointStore::open(directory.path().to_str().unwrap()).unwrap();
        for id in 1..=4 {
            store.write(manifest(id), parts(id)).await.unwrap();
        }
        std::fs::remove_file(directory.path().join("checkpoint-000003").join(MANIFEST)).unwrap();
        store.retain(4, 2).await.unwrap();
        let mut ids = store.ids().await.unwrap();
        ids.sort_unstable();
        assert_eq!(ids, [2, 4], "3 never completed");
        store.clear().await.unwrap();
        assert_eq!(store.ids().await.unwrap(), [0; 0]);
    }
}
