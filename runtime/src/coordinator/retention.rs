//! Which checkpoints stay, and which files: those of older checkpoints on which a later one builds stay with it.
//!
//! Manifests go first. A file goes when no manifest that stays names it, and never before the last one that does is gone: whatever
//! interrupts a removal, what looks whole is whole. Where a manifest cannot be looked at, everything stays that it may name; it
//! names nothing newer than itself.
//!
//! A folder whose manifest is gone stays as long as there is something in it that others need. What was found out about manifests is
//! remembered, so that a chain of checkpoints does not cost a request for each of them every time.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::TryStreamExt;
use object_store::ObjectStoreExt;
use object_store::path::Path as StorePath;

use super::storage::CheckpointStore;
use crate::checkpoint::{MANIFEST, Manifest, ManifestError, folder_of, number_of};
use crate::error::{JobError, JobResult};
use crate::seam::{self, Point};
use crate::storage::{retried, root_cause, scheme_of};

/// What data files end in: of a claimed checkpoint nothing is removed that somebody else has put there.
const DATA: &str = "state";

/// Files by the checkpoint in whose folder they are.
type Files = HashMap<u64, HashSet<String>>;

/// The names of files begin so that [stand for others](super::compaction).
pub(super) const JOINED: &str = "joined-";

/// What is known of the folders of checkpoints.
#[derive(Debug, Default)]
pub(super) struct Retention(Mutex<BTreeMap<u64, Known>>, AtomicU64);

/// Files that stand for others stay in the folder of this checkpoint, though no manifest names them yet, as long as this is there.
#[derive(Debug)]
pub(super) struct Pin(Arc<CheckpointStore>);

impl Pin {
    /// There is one at a time.
    pub(super) fn new(store: Arc<CheckpointStore>, checkpoint: u64) -> Self {
        store.retention.1.store(checkpoint, SeqCst);
        Pin(store)
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        self.0.retention.1.store(0, SeqCst);
    }
}

#[derive(Clone, Debug)]
enum Known {
    /// It is complete.
    Whole(Arc<Needs>),
    /// It has a manifest that says nothing any more.
    Damaged,
    /// It has no manifest. So many of its files others needed, when it was last looked through.
    Bare(Option<usize>),
}

#[derive(Debug)]
struct Needs {
    /// With no chains and no files.
    manifest: Manifest,
    /// Files in other folders.
    files: Vec<(u64, String)>,
}

impl Known {
    fn of(manifest: &Manifest) -> Self {
        let files = manifest.files.iter().filter_map(|file| Some((file.of?, file.name.clone()))).collect();
        Known::Whole(Arc::new(Needs { manifest: Manifest { chains: Vec::new(), files: Vec::new(), ..manifest.clone() }, files }))
    }
}

impl Retention {
    fn known(&self) -> MutexGuard<'_, BTreeMap<u64, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A checkpoint was written.
    pub(super) fn wrote(&self, manifest: &Manifest) {
        self.known().insert(manifest.checkpoint, Known::of(manifest));
    }
}

impl CheckpointStore {
    /// Removes all checkpoints but the newest `retain` up to `newest`, and what never completed before it. Gives how many
    /// are left.
    pub(crate) async fn retain(&self, newest: u64, retain: usize) -> JobResult<usize> {
        let given_up = self.given_up().await;
        let ids = self.ids().await?;
        self.retention.known().retain(|id, _| ids.binary_search(id).is_ok());
        let mut kept = 1;
        let mut needed = Files::new();
        let mut going = Vec::new();
        let mut unknown = 0;
        for &id in ids.iter().rev() {
            let is_older = id < newest;
            match self.look(id).await {
                // Nobody knows: it stays, until a later retention.
                None => unknown = unknown.max(id),
                Some(Known::Whole(needs)) => {
                    let counts = given_up.reason(&needs.manifest).is_none();
                    if is_older && !(counts && kept < retain) {
                        going.push((id, true));
                        continue;
                    }
                    kept += usize::from(is_older);
                    for (other, name) in &needs.files {
                        needed.entry(*other).or_default().insert(name.clone());
                    }
                }
                Some(Known::Damaged) if is_older && kept >= retain => going.push((id, true)),
                Some(Known::Damaged) => kept += usize::from(is_older),
                Some(Known::Bare(_)) if is_older => going.push((id, false)),
                Some(Known::Bare(_)) => {}
            }
        }
        for &(id, has_manifest) in &going {
            if has_manifest {
                self.delete(&format!("{}/{MANIFEST}", folder_of(id))).await?;
                self.retention.known().insert(id, Known::Bare(None));
            }
        }
        seam::reach(Point::Bare).await?;
        for (id, _) in going.into_iter().filter(|&(id, _)| id > unknown) {
            let stays = needed.remove(&id).unwrap_or_default();
            let before = match self.retention.known().get(&id) {
                Some(Known::Bare(before)) => *before,
                _ => None,
            };
            let pinned = self.retention.1.load(SeqCst) == id;
            // What others need only becomes less, but for what is pinned.
            if pinned || before.is_none_or(|before| before != stays.len()) {
                self.remove_folder(&folder_of(id), |name| !(stays.contains(name) || pinned && name.starts_with(JOINED))).await?;
                if pinned {
                    continue;
                }
                self.retention.known().insert(id, Known::Bare(Some(stays.len()).filter(|&count| count > 0)));
            }
        }
        Ok(kept)
    }

    /// What is in a folder. None: nobody can say now.
    async fn look(&self, id: u64) -> Option<Known> {
        let manifest = format!("{}/{MANIFEST}", folder_of(id));
        let known = self.retention.known().get(&id).cloned();
        let read = match known {
            Some(Known::Bare(_)) => return known,
            // It is still there.
            Some(_) => {
                let path = StorePath::from(manifest.as_str());
                retried(|| self.store.head(&path)).await.map(|_| None)
            }
            None => self.get(&manifest).await.map(Some),
        };
        let known = match read {
            Ok(None) => return known,
            Ok(Some(bytes)) => match Manifest::from_bytes(&bytes) {
                Ok(manifest) => Known::of(&manifest),
                Err(ManifestError::Corrupt(_)) => Known::Damaged,
                // It may name whatever it likes.
                Err(ManifestError::Newer(_)) => return None,
            },
            Err(object_store::Error::NotFound { .. }) => Known::Bare(None),
            Err(_) => return None,
        };
        self.retention.known().insert(id, known.clone());
        Some(known)
    }

    /// Removes all checkpoints. As long as the manifest of the newest is there it is whole.
    pub(crate) async fn clear(&self) -> JobResult<()> {
        self.still_held().await?;
        let ids = self.ids().await?;
        for &id in &ids {
            self.delete(&format!("{}/{MANIFEST}", folder_of(id))).await?;
            self.retention.known().remove(&id);
        }
        for id in ids {
            self.remove(id).await?;
        }
        Ok(())
    }

    /// Removes one checkpoint on which no other builds, its manifest first: half a removal leaves nothing that looks whole.
    pub(super) async fn remove(&self, id: u64) -> JobResult<()> {
        self.remove_folder(&folder_of(id), |_| true).await
    }

    /// Removes what there is of a checkpoint that was given up, unless another process has taken the directory: one of that number may be
    /// its own. That fails without a word: it stands in nobody's way, and the next checkpoint that completes removes it, too.
    pub(super) async fn abandon(&self, id: u64) {
        if self.still_held().await.is_ok() {
            let _ = self.remove(id).await;
        }
    }

    /// Removes a manifest, and then the files of its folder for which `goes` says so.
    pub(super) async fn remove_folder(&self, folder: &str, goes: impl Fn(&str) -> bool) -> JobResult<()> {
        self.delete(&format!("{folder}/{MANIFEST}")).await?;
        if let Some(id) = number_of(folder) {
            self.retention.known().remove(&id);
        }
        let mut all = true;
        for name in self.files_in(folder).await? {
            if goes(&name) {
                self.delete(&format!("{folder}/{name}")).await?;
            } else {
                all = false;
            }
        }
        let path = self.directory.join(folder);
        if all {
            // In a directory of others only what is empty. In a bucket there is no folder.
            let _ = if self.lock.is_some() { std::fs::remove_dir_all(path) } else { std::fs::remove_dir(path) };
        } else if self.lock.is_some() {
            remove_staged(&path, goes);
        }
        Ok(())
    }

    /// Removes the files of a checkpoint without a manifest, and of those before it, that no other needs: the job that had this one taken
    /// over was killed while it removed it.
    pub(super) async fn remove_bare(&self, newest: u64) -> JobResult<()> {
        for id in self.ids().await?.into_iter().filter(|&id| id <= newest) {
            if matches!(self.look(id).await, Some(Known::Bare(_))) {
                self.remove_claimed(&folder_of(id)).await?;
            }
        }
        Ok(())
    }

    /// Removes a checkpoint that the job has taken over from another, with what it builds upon and no other needs; the manifest first.
    pub(super) async fn remove_claimed(&self, folder: &str) -> JobResult<()> {
        let manifest = match self.get(&format!("{folder}/{MANIFEST}")).await {
            Ok(bytes) => Manifest::from_bytes(&bytes).ok(),
            Err(object_store::Error::NotFound { .. }) => None,
            Err(error) => return Err(self.cannot_remove(folder, &error)),
        };
        self.remove_folder(folder, |_| false).await?;
        let mut needed = Files::new();
        let mut whole = HashSet::new();
        for id in self.ids().await?.into_iter().filter(|&id| folder_of(id) != folder) {
            match self.look(id).await {
                Some(Known::Whole(needs)) => {
                    whole.insert(id);
                    for (other, name) in &needs.files {
                        needed.entry(*other).or_default().insert(name.clone());
                    }
                }
                Some(Known::Bare(_)) => {}
                Some(Known::Damaged) => drop(whole.insert(id)),
                // It may need anything.
                None => return Ok(()),
            }
        }
        let stays = |id: u64, name: &str| whole.contains(&id) || needed.get(&id).is_some_and(|names| names.contains(name));
        let own = number_of(folder);
        for name in self.files_in(folder).await? {
            let is_data = name.rsplit_once('.').is_some_and(|(_, extension)| extension == DATA);
            if is_data && own.is_none_or(|own| !stays(own, &name)) {
                self.delete(&format!("{folder}/{name}")).await?;
            }
        }
        let mut folders = HashSet::from([folder.to_owned()]);
        for file in manifest.iter().flat_map(|manifest| &manifest.files) {
            let Some(other) = file.of.filter(|&other| !stays(other, &file.name)) else { continue };
            self.delete(&file.path(folder)).await?;
            folders.insert(folder_of(other));
        }
        if self.directory.to_str().is_none_or(|directory| scheme_of(directory).is_none()) {
            for folder in folders {
                // Only if there is nothing in it.
                let _ = std::fs::remove_dir(self.directory.join(folder));
            }
        }
        Ok(())
    }

    /// The names of the files in a folder.
    async fn files_in(&self, folder: &str) -> JobResult<Vec<String>> {
        let prefix = StorePath::from(folder);
        let files: Vec<_> =
            self.store.list(Some(&prefix)).try_collect().await.map_err(|error| self.cannot_remove(folder, &error))?;
        Ok(files.iter().filter_map(|file| file.location.filename().map(str::to_owned)).collect())
    }

    /// Removes a file. One that is gone is fine.
    async fn delete(&self, path: &str) -> JobResult<()> {
        match self.store.delete(&StorePath::from(path)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.cannot_remove(path, &error)),
        }
    }

    fn cannot_remove(&self, path: &str, error: &object_store::Error) -> JobError {
        JobError::transient(format!("cannot remove `{}`: {}", self.directory.join(path).display(), root_cause(error)))
    }
}

/// Removes what a process was writing when it was killed: a local store has it in `name#1` until it is complete, and lists no such file.
fn remove_staged(folder: &Path, goes: impl Fn(&str) -> bool) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.contains('#') && goes(name)) {
            // It is in nobody's way.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
