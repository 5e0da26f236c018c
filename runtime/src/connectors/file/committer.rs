//! Makes staged files visible: renames them to their names, in any order any number of times with the same result.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::committable::StagedFile;
use super::sink::Existing;
use crate::error::{JobError, JobResult};
use crate::notice::notice;
use crate::sink::{Committer, SinkStart};

/// What staging folders begin with.
const STAGING: &str = ".millstream-";
/// In each staging folder: locked while its run lives.
const LOCK: &str = ".lock";

/// The committing half of the file sink.
#[derive(Debug)]
pub(super) struct FileCommitter {
    folder: PathBuf,
    staging: PathBuf,
    /// What the names of this run's files begin with.
    prefix: String,
    existing: Existing,
    lock: Option<File>,
}

impl FileCommitter {
    pub(super) fn new(folder: PathBuf, staging: PathBuf, prefix: String, existing: Existing) -> Self {
        FileCommitter { folder, staging, prefix, existing, lock: None }
    }

    /// Makes the folders, and shows at once whether they can be written to.
    fn open(&mut self) -> JobResult<()> {
        let folder = self.folder.display();
        if let Ok(target) = std::fs::read_link(&self.folder)
            && !self.folder.exists()
        {
            return Err(JobError::new(format!(
                "the output folder `{folder}` is a link to `{}`, which is not there",
                target.display()
            )));
        }
        if self.folder.exists() && !self.folder.is_dir() {
            return Err(JobError::new(format!("the output folder `{folder}` is a file")));
        }
        let failed = |error: std::io::Error| {
            JobError::io(format_args!("cannot write to the output folder `{folder}`"), &error).permanent()
        };
        std::fs::create_dir_all(&self.staging).map_err(failed)?;
        let lock = File::create(self.staging.join(LOCK)).map_err(failed)?;
        // Another attempt of this process may have held it; another process cannot: run ids are unique.
        let _ = lock.try_lock();
        self.lock = Some(lock);
        Ok(())
    }

    /// Removes staging folders of runs that are dead.
    fn clean_up_after_others(&self) -> JobResult<()> {
        for path in entries(&self.folder)? {
            let name = name_of(&path);
            if !name.starts_with(STAGING) || path == self.staging || !path.is_dir() {
                continue;
            }
            let alive =
                File::open(path.join(LOCK)).is_ok_and(|lock| matches!(lock.try_lock(), Err(std::fs::TryLockError::WouldBlock)));
            if !alive {
                std::fs::remove_dir_all(&path).map_err(|error| cannot_remove(&path, &error))?;
            }
        }
        Ok(())
    }

    /// Removes everything from the own staging folder: nothing in it is wanted any more.
    fn clear_staging(&self) -> JobResult<()> {
        for path in entries(&self.staging)? {
            if name_of(&path) != LOCK {
                std::fs::remove_file(&path).map_err(|error| cannot_remove(&path, &error))?;
            }
        }
        Ok(())
    }

    fn apply_policy(&self) -> JobResult<()> {
        let mut visible = Vec::new();
        visible_files(&self.folder, &mut visible)?;
        let Some(first) = visible.first() else { return Ok(()) };
        match self.existing {
            Existing::Append => Ok(()),
            Existing::Fail => Err(JobError::new(format!(
                "the output folder `{}` already holds files (`{}`); give the sink `existing: replace` or `existing: append`, start with \
                 --replace, or choose another folder",
                self.folder.display(),
                first.display()
            ))),
            Existing::Replace => {
                for path in visible.iter().filter(|path| name_of(path).starts_with("part-")) {
                    std::fs::remove_file(path).map_err(|error| cannot_remove(path, &error))?;
                    self.remove_empty_partitions(path.parent());
                }
                Ok(())
            }
        }
    }

    /// Removes the folders of partitions that have become empty, from the innermost outwards.
    fn remove_empty_partitions(&self, mut folder: Option<&Path>) {
        while let Some(inner) = folder.filter(|folder| *folder != self.folder && name_of(folder).contains('=')) {
            if std::fs::remove_dir(inner).is_err() {
                return;
            }
            folder = inner.parent();
        }
    }

    /// An older checkpoint than the newest was taken: what later ones had committed will come again.
    fn roll_back_to(&self, checkpoint: u64) -> JobResult<()> {
        let mut visible = Vec::new();
        visible_files(&self.folder, &mut visible)?;
        for path in visible {
            let name = name_of(&path);
            let later = checkpoint_of(&name, &self.prefix).is_some_and(|number| number > checkpoint);
            if later {
                notice(&format!("warning: `{}` is of a checkpoint later than {checkpoint} and is written again", path.display()));
                std::fs::remove_file(&path).map_err(|error| cannot_remove(&path, &error))?;
            }
        }
        Ok(())
    }

    fn commit_one(&self, file: &StagedFile, folders: &mut BTreeSet<PathBuf>) -> JobResult<()> {
        let temporary = self.staging.join(&file.temporary);
        let target = self.folder.join(&file.target);
        let failed = |error: std::io::Error| JobError::io(format_args!("cannot commit `{}`", target.display()), &error);
        if !temporary.exists() {
            match std::fs::metadata(&target) {
                Ok(found) if found.len() == file.size => {}
                Ok(found) => notice(&format!(
                    "warning: `{}` has been changed since it was committed: {} bytes, it had {}",
                    target.display(),
                    found.len(),
                    file.size
                )),
                Err(_) => notice(&format!("warning: `{}` was committed and is not there any more", target.display())),
            }
            return Ok(());
        }
        if target.exists() {
            return Err(JobError::new(format!(
                "cannot commit `{}`: there is such a file already; do two sinks write to this folder?",
                target.display()
            )));
        }
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
            folders.insert(parent.to_owned());
        }
        std::fs::rename(&temporary, &target).map_err(failed)
    }
}

impl Committer for FileCommitter {
    fn start(&mut self, start: &SinkStart) -> JobResult<()> {
        self.open()?;
        self.clean_up_after_others()?;
        match start {
            SinkStart::Fresh => {
                if let Err(refused) = self.apply_policy() {
                    // Nothing of a run that does not begin stays behind.
                    let _ = self.finish();
                    return Err(refused);
                }
            }
            SinkStart::Resumed { checkpoint, pending } => {
                for (checkpoint, bytes) in pending {
                    self.commit(*checkpoint, std::slice::from_ref(bytes))?;
                }
                self.roll_back_to(*checkpoint)?;
            }
        }
        self.clear_staging()
    }

    fn commit(&mut self, _checkpoint: u64, committables: &[Vec<u8>]) -> JobResult<()> {
        let mut folders = BTreeSet::new();
        for bytes in committables {
            self.commit_one(&StagedFile::decode(bytes)?, &mut folders)?;
        }
        // New names are safe only when their folders are on disk.
        for folder in folders {
            let synced = File::open(&folder).and_then(|folder| folder.sync_all());
            synced.map_err(|error| JobError::io(format_args!("cannot write `{}`", folder.display()), &error))?;
        }
        Ok(())
    }

    fn finish(&mut self) -> JobResult<()> {
        self.lock = None;
        std::fs::remove_dir_all(&self.staging).map_err(|error| cannot_remove(&self.staging, &error))
    }
}

fn cannot_remove(path: &Path, error: &std::io::Error) -> JobError {
    JobError::io(format_args!("cannot remove `{}`", path.display()), error).permanent()
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn entries(folder: &Path) -> JobResult<Vec<PathBuf>> {
    let failed =
        |error: std::io::Error| JobError::io(format_args!("cannot read the folder `{}`", folder.display()), &error).permanent();
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.sort();
    Ok(paths)
}

/// All files that are not hidden, at any depth.
fn visible_files(folder: &Path, files: &mut Vec<PathBuf>) -> JobResult<()> {
    for path in entries(folder)? {
        if name_of(&path).starts_with('.') {
            continue;
        }
        if path.is_dir() { visible_files(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

/// The number of the checkpoint in `part-<subtask>-<checkpoint>-<n>.json`.
fn checkpoint_of(name: &str, prefix: &str) -> Option<u64> {
    let mut parts = name.strip_prefix(prefix)?.split('-');
    let (subtask, checkpoint, number) = (parts.next()?, parts.next()?, parts.next()?);
    subtask.parse::<u32>().ok()?;
    number.split('.').next()?.parse::<u64>().ok()?;
    checkpoint.parse().ok()
}
