//! Checkpoints that somebody names: savepoints are written, and any checkpoint is found by its folder, wherever that lies.
//!
//! A savepoint is a checkpoint in a folder that the retention of no job knows. It needs no file outside of it: where the job keeps
//! checkpoints, it is put together from the files of the one that is stored, so that there is no more of it in memory than some of these,
//! and no task has to hold on to its state for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use object_store::path::Path as StorePath;
use object_store::{ObjectStore, ObjectStoreExt};

use super::contents::Contents;
use super::files::Landing;
use super::lease;
use super::lineage::{Chain, Plan};
use super::storage::{Checkpoint, CheckpointStore, ReadError, Written, ids};
use crate::checkpoint::{MANIFEST, Manifest, PieceFile, folder_of, number_of, savepoint_of};
use crate::error::{ErrorKind, JobError, JobResult};
use crate::notice::notice;
use crate::seam::{self, Point};
use crate::storage::{create_durably, folder_store, local_path, retried, root_cause, scheme_of};

/// A checkpoint that somebody has named, and its folder.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub checkpoint: Checkpoint,
    pub folder: PathBuf,
    pub elsewhere: Elsewhere,
}

/// Where a checkpoint is that is not among the job's own.
#[derive(Clone, Debug)]
pub(crate) struct Elsewhere {
    pub store: Arc<CheckpointStore>,
    /// The name of its folder there.
    pub folder: String,
}

/// The folders of the savepoints of a checkpoint, in the order in which they were asked for. One that cannot be written does not fail
/// the checkpoint.
pub(super) type Savepoints = Vec<JobResult<PathBuf>>;

/// Files that are put together for a savepoint, and where they are.
type Upon<'a> = Option<(&'a CheckpointStore, &'a Plan)>;

/// A checkpoint is stored.
#[derive(Debug, Default)]
pub(super) struct Stored {
    pub savepoints: Savepoints,
    /// Bytes that were written to the job's own place.
    pub size: u64,
    /// Files that the next one may build upon.
    pub to_build_upon: Vec<Arc<PieceFile>>,
}

/// The directories of savepoints of a checkpoint, and the checkpoints that it builds upon.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub directories: Vec<String>,
    pub chain: Chain,
}

/// Stores a checkpoint where the job keeps them, if it does, and as savepoints. `stored`: it is there, and those before it may be gone.
pub(super) async fn store(
    own: Option<Arc<CheckpointStore>>,
    mut manifest: Manifest,
    contents: Contents,
    retain: usize,
    claimed: Option<PathBuf>,
    savepoints: Wanted,
    stored: Arc<AtomicBool>,
) -> JobResult<Stored> {
    let id = manifest.checkpoint;
    let mut written = Written::default();
    // A savepoint counts no more when the checkpoint that it is a copy of does not.
    manifest.epoch = own.as_ref().map_or(0, |own| own.epoch());
    let copy = (!savepoints.directories.is_empty()).then(|| match &own {
        None => (manifest.clone(), contents.clone()),
        // Its files are read from there: what the tasks have handed over is not kept for it.
        Some(_) => (
            Manifest { files: Vec::new(), ..manifest.clone() },
            Contents { entries: contents.entries.clone(), unreadable: contents.unreadable.clone(), pieces: Vec::new() },
        ),
    });
    if let Some(own) = &own {
        seam::reach(Point::Write).await?;
        written = own.write(manifest, contents).await?;
        seam::reach(Point::Retain).await?;
        stored.store(true, SeqCst);
        // Here, so that the coordinator does not wait for files to be removed.
        let removed = match (own.retain(id, retain).await, claimed) {
            (Ok(kept), Some(claimed)) if kept >= retain => remove_claimed(&claimed).await,
            (kept, _) => kept.map(drop),
        };
        match seam::reach(Point::Retained).await.and(removed) {
            Err(error) if error.kind() == ErrorKind::Transient => {
                notice(&format!("warning: old checkpoints are still there: {error}"));
            }
            removed => removed?,
        }
    }
    let mut folders = Vec::new();
    let plan = own.as_ref().map(|_| savepoints.chain.plan_with(written.to_build_upon.clone()));
    // Until it is done no other checkpoint is stored, so none of these files goes.
    let upon = own.as_deref().zip(plan.as_ref());
    for directory in savepoints.directories {
        if let Some((manifest, contents)) = &copy {
            folders.push(CheckpointStore::savepoint(&directory, manifest.clone(), contents.clone(), upon).await);
        }
    }
    Ok(Stored { savepoints: folders, size: written.size, to_build_upon: written.to_build_upon })
}

impl CheckpointStore {
    /// Reads a checkpoint that somebody names: its own folder, whatever that is called, or a directory of which the newest is taken.
    /// Takes no lock. `landing`: where key groups wait that are not on this machine.
    pub(crate) async fn named(path: &Path, job: &str, landing: &Landing) -> JobResult<Named> {
        let cannot = |reason: String| JobError::new(format!("cannot resume from `{}`: {reason}", path.display()));
        // What the storage does not say now it may say when the job starts again.
        let cannot_now = |reason: String| JobError::transient(format!("cannot resume from `{}`: {reason}", path.display()));
        let in_it = |error: JobError| error.context(format_args!("cannot resume from `{}`", path.display()));
        let remote = path.to_str().filter(|path| scheme_of(path).is_some());
        let whole = match remote {
            Some(place) => PathBuf::from(place.trim_end_matches('/')),
            // The parent of `.` has a name, too.
            None => path.canonicalize().map_err(|error| cannot(error.to_string()))?,
        };
        let name = whole.file_name().and_then(|name| name.to_str());
        let is_checkpoint = match remote {
            Some(place) => {
                let store = folder_store(place).map_err(in_it)?;
                has_manifest(&*store, MANIFEST).await.map_err(cannot_now)?
            }
            None => whole.join(MANIFEST).exists(),
        };
        let folder = name.filter(|name| number_of(name).is_some() || is_checkpoint);
        let directory = match (folder, whole.parent()) {
            (Some(_), Some(parent)) => parent,
            _ => &whole,
        };
        let store = folder_store(&directory.to_string_lossy()).map_err(in_it)?;
        let given_up = lease::given_up(&*store).await.map_err(|error| cannot_now(root_cause(&error)))?;
        let mut store = CheckpointStore::reader(store, directory.to_owned()).landing_on(landing.clone());
        store.given_up = given_up;
        store.is_local = remote.is_none();
        let store = Arc::new(store);
        let checkpoint = match folder {
            Some(folder) => store.read(folder, job).await.map_err(|error| match error {
                ReadError::Damaged(reason) | ReadError::Refused(reason) | ReadError::GivenUp(reason) => cannot(reason),
                ReadError::OfJob(other) => cannot(format!("it is a checkpoint of the job `{other}`, and this is `{job}`")),
                ReadError::Unreadable(reason) => cannot_now(reason),
            })?,
            None => store.latest(job).await.map_err(in_it)?.checkpoint,
        };
        let named = |checkpoint: Checkpoint| {
            let name = folder.map_or_else(|| folder_of(checkpoint.manifest.checkpoint), str::to_owned);
            Named { checkpoint, folder: directory.join(&name), elsewhere: Elsewhere { store: store.clone(), folder: name } }
        };
        checkpoint.map(named).ok_or_else(|| match savepoints_in(&whole).as_slice() {
            [] => cannot("there is no complete checkpoint".to_owned()),
            savepoints => cannot(format!("it holds savepoints, name one of them: {}", savepoints.join(", "))),
        })
    }

    /// Writes a checkpoint to a new folder below a directory, which is made where it is missing, with what is in these files of another.
    /// Gives the folder.
    async fn savepoint(directory: &str, manifest: Manifest, contents: Contents, upon: Upon<'_>) -> JobResult<PathBuf> {
        if scheme_of(directory).is_some() {
            return CheckpointStore::remote_savepoint(directory.trim_end_matches('/'), manifest, contents, upon).await;
        }
        let directory = local_path(directory);
        let io = |error: &std::io::Error| JobError::io(format_args!("cannot write a savepoint to `{directory}`"), error);
        create_durably(Path::new(directory)).map_err(|error| io(&error))?;
        let directory = Path::new(directory).canonicalize().map_err(|error| io(&error))?;
        let name = savepoint_of(&manifest.job, manifest.checkpoint);
        let mut folder = name.clone();
        let mut number = 1;
        // Another run may have left one of this name.
        while let Err(error) = std::fs::create_dir(directory.join(&folder)) {
            if error.kind() != std::io::ErrorKind::AlreadyExists {
                return Err(io(&error));
            }
            number += 1;
            folder = format!("{name}-{number}");
        }
        let store = folder_store(&directory.to_string_lossy()).map_err(|error| error.context("cannot write a savepoint"))?;
        let store = CheckpointStore::reader(store, directory);
        store.fill_savepoint(&folder, manifest, contents, upon).await
    }

    /// Writes a savepoint to this folder, which nobody else has. Gives the whole path.
    async fn fill_savepoint(&self, folder: &str, manifest: Manifest, contents: Contents, upon: Upon<'_>) -> JobResult<PathBuf> {
        let written = self.write_folder(folder, manifest, contents, upon).await;
        written.map_err(|error| error.context(format_args!("cannot write a savepoint to `{}`", self.directory.display())))?;
        Ok(self.directory.join(folder))
    }

    /// The same in a bucket, which has no folders to make.
    async fn remote_savepoint(directory: &str, manifest: Manifest, contents: Contents, upon: Upon<'_>) -> JobResult<PathBuf> {
        let cannot = |reason: String| JobError::transient(format!("cannot write a savepoint to `{directory}`: {reason}"));
        let store = folder_store(directory)?;
        let name = savepoint_of(&manifest.job, manifest.checkpoint);
        let mut folder = name.clone();
        let mut number = 1;
        while has_manifest(&*store, &format!("{folder}/{MANIFEST}")).await.map_err(cannot)? {
            number += 1;
            folder = format!("{name}-{number}");
        }
        let store = CheckpointStore::reader(store, PathBuf::from(directory));
        store.fill_savepoint(&folder, manifest, contents, upon).await
    }
}

/// Whether there is a manifest of this name.
async fn has_manifest(store: &dyn ObjectStore, name: &str) -> Result<bool, String> {
    let manifest = StorePath::from(name);
    match retried(|| store.head(&manifest)).await {
        Ok(_) => Ok(true),
        Err(object_store::Error::NotFound { .. }) => Ok(false),
        Err(error) => Err(root_cause(&error)),
    }
}

/// Whether the folder of a claimed checkpoint is what somebody names: that folder, or the directory that it is in.
pub(super) fn is_of(claimed: &str, path: &Path) -> bool {
    let named = match path.to_str().filter(|path| scheme_of(path).is_some()) {
        Some(place) => PathBuf::from(place.trim_end_matches('/')),
        // It may be gone, but not the directory that it was in.
        None => match (path.canonicalize(), path.file_name()) {
            (Ok(whole), _) => whole,
            (Err(_), Some(name)) => {
                let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
                parent.canonicalize().map_or_else(|_| path.to_owned(), |parent| parent.join(name))
            }
            (Err(_), None) => path.to_owned(),
        },
    };
    let claimed = Path::new(claimed);
    claimed == named || claimed.parent() == Some(&named)
}

/// Whether there is no checkpoint there any more, nor below. False where that cannot be seen.
pub(super) async fn is_gone(path: &Path) -> bool {
    if scheme_of(&path.to_string_lossy()).is_none() && !path.exists() {
        return true;
    }
    let Ok(store) = folder_store(&path.to_string_lossy()) else { return false };
    if has_manifest(&*store, MANIFEST).await != Ok(false) {
        return false;
    }
    let Ok(ids) = ids(&*store).await else { return false };
    for id in ids {
        if has_manifest(&*store, &format!("{}/{MANIFEST}", folder_of(id))).await != Ok(false) {
            return false;
        }
    }
    true
}

/// Removes a checkpoint that the job has taken over, the manifest first. One that is gone is fine.
pub(crate) async fn remove_claimed(folder: &Path) -> JobResult<()> {
    let (Some(directory), Some(name)) = (folder.parent(), folder.file_name().and_then(|name| name.to_str())) else {
        return Ok(());
    };
    let is_remote = folder.to_str().is_some_and(|folder| scheme_of(folder).is_some());
    if !is_remote && !folder.exists() {
        return Ok(());
    }
    let store = CheckpointStore::reader(folder_store(&directory.to_string_lossy())?, directory.to_owned());
    store.remove_claimed(name).await.map_err(|error| error.context("a claimed checkpoint"))
}

/// Removes what is left of a claimed checkpoint whose manifest is gone. The folder of one that is no savepoint has a name that its job may
/// use again: so not while somebody uses that directory, and not in the job's own, which `own` looks after.
pub(super) async fn remove_leftovers(folder: &Path, own: &CheckpointStore) -> JobResult<()> {
    let (Some(directory), Some(name)) = (folder.parent(), folder.file_name().and_then(|name| name.to_str())) else {
        return Ok(());
    };
    let Some(claimed) = number_of(name) else { return remove_claimed(folder).await };
    let shown = directory.to_string_lossy();
    let is_own = |own: &Path| own == directory || own.canonicalize().is_ok_and(|own| own == directory);
    let is_there = scheme_of(&shown).is_some() || directory.exists();
    if is_own(own.directory()) || !is_there || ids(&*folder_store(&shown)?).await.is_ok_and(|ids| !ids.contains(&claimed)) {
        return Ok(());
    }
    let store = CheckpointStore::open(&shown).await?;
    let removed = store.remove_bare(claimed).await;
    store.release().await;
    removed.map_err(|error| error.context("what is left of a claimed checkpoint"))
}

/// The names of the savepoints in a directory.
fn savepoints_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().join(MANIFEST).exists())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}
