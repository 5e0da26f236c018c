//! Makes staged files visible: renames them to their names, in any order any number of times with the same result.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::committable::StagedFile;
use super::merged::{LIST, Merged};
use super::sink::Existing;
use crate::error::{JobError, JobResult};
use crate::notice::notice;
use crate::sink::{CommitOutcome, CommitRequest, Committer, SinkStart};
use crate::storage::{create_durably, sync_folder};

/// What staging folders begin with.
const STAGING: &str = ".millstream-";
/// In each staging folder: locked while its run lives. Names the directory of the checkpoints by which it can be gone on with.
const LOCK: &str = ".lock";
/// How often, and how long after each other, one tries to get the lock of a run: another attempt of this process may just be ending.
const TRIES: u32 = 50;
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// The committing half of the file sink.
#[derive(Debug)]
pub(super) struct FileCommitter {
    folder: PathBuf,
    staging: PathBuf,
    /// What the names of this run's files begin with.
    prefix: String,
    existing: Existing,
    /// The directory of the job's checkpoints; empty: it has none.
    owner: String,
    lock: Option<File>,
    /// What the restored checkpoint holds is being committed.
    recovering: bool,
    /// Inputs of merged files that a kept checkpoint may hold.
    merged: Merged,
}

impl FileCommitter {
    pub(super) fn new(
        folder: PathBuf,
        staging: PathBuf,
        prefix: String,
        existing: Existing,
        retained: u32,
        owner: String,
    ) -> Self {
        FileCommitter {
            merged: Merged::new(staging.clone(), retained),
            folder,
            staging,
            prefix,
            existing,
            owner,
            lock: None,
            recovering: false,
        }
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
        create_durably(&self.staging).map_err(failed)?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(self.staging.join(LOCK)).map_err(failed)?;
        self.lock = None;
        let mut tries = 0;
        // A file system without locks has no other run either, as far as anybody can say.
        while let Err(TryLockError::WouldBlock) = lock.try_lock() {
            tries += 1;
            if tries == TRIES {
                return Err(JobError::new(format!(
                    "another process writes to the output folder `{folder}` for the same run (`{}` is locked): it runs with the checkpoints \
                     that this one goes on from; stop it first, or give this one an output folder of its own",
                    self.staging.join(LOCK).display()
                )));
            }
            std::thread::sleep(BETWEEN_TRIES);
        }
        // Never empty in between: that would say that nobody can go on with it.
        (&lock).write_all(self.owner.as_bytes()).and_then(|()| lock.set_len(self.owner.len() as u64)).map_err(failed)?;
        self.lock = Some(lock);
        Ok(())
    }

    /// Removes staging folders of runs that are dead and that nobody can go on with: those of this job, which begins anew, and those of jobs
    /// without checkpoints. What others may be resumed with is theirs, unless everything here is replaced.
    fn clean_up_after_others(&self) -> JobResult<()> {
        for path in entries(&self.folder)? {
            let name = name_of(&path);
            if !name.starts_with(STAGING) || path == self.staging || !path.is_dir() {
                continue;
            }
            let lock = path.join(LOCK);
            if File::open(&lock).is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock))) {
                continue;
            }
            let owner = std::fs::read_to_string(&lock).unwrap_or_default();
            let is_own = owner == self.owner && uid_of(&name) == uid_of(&name_of(&self.staging));
            if owner.is_empty() || is_own || matches!(self.existing, Existing::Replace) {
                std::fs::remove_dir_all(&path).map_err(|error| cannot_remove(&path, &error))?;
            }
        }
        Ok(())
    }

    /// Removes everything from the own staging folder that is not wanted any more.
    fn clear_staging(&self, keep: &BTreeSet<String>) -> JobResult<()> {
        for path in entries(&self.staging)? {
            let name = name_of(&path);
            if name != LOCK && name != LIST && !keep.contains(&name) {
                std::fs::remove_file(&path).map_err(|error| cannot_remove(&path, &error))?;
            }
        }
        Ok(())
    }

    /// Fails where output of others is in the way.
    fn agree(&self) -> JobResult<()> {
        let mut visible = Vec::new();
        visible_files(&self.folder, &mut visible)?;
        match (self.existing, visible.first()) {
            (Existing::Fail, Some(first)) => Err(JobError::new(format!(
                "the output folder `{}` already holds files (`{}`); give the sink `existing: replace` or `existing: append`, start with \
                 --replace, or choose another folder",
                self.folder.display(),
                first.display()
            ))),
            _ => Ok(()),
        }
    }

    /// Removes the output of others, if that is to be replaced.
    fn replace(&self) -> JobResult<()> {
        if !matches!(self.existing, Existing::Replace) {
            return Ok(());
        }
        let mut visible = Vec::new();
        visible_files(&self.folder, &mut visible)?;
        for path in visible.iter().filter(|path| name_of(path).starts_with("part-")) {
            std::fs::remove_file(path).map_err(|error| cannot_remove(path, &error))?;
            self.remove_empty_partitions(path.parent());
        }
        Ok(())
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

    /// Commits one file. Failures of the file system may pass: the request is tried again.
    fn commit_one(&self, request: &mut CommitRequest, file: &StagedFile, folders: &mut BTreeSet<PathBuf>) -> JobResult<()> {
        let temporary = self.staging.join(&file.temporary);
        let target = self.folder.join(&file.target);
        let parent = target.parent().unwrap_or(&self.folder).to_owned();
        if !temporary.exists() {
            match std::fs::metadata(&target) {
                Ok(found) => {
                    if found.len() != file.size {
                        notice(&format!(
                            "warning: `{}` has been changed since it was committed: {} bytes, it had {}",
                            target.display(),
                            found.len(),
                            file.size
                        ));
                    }
                    // Whoever gave it its name may have died before that was on disk.
                    folders.insert(parent);
                }
                // Somebody may have taken it away after an earlier process committed it.
                Err(_) if self.recovering => {
                    notice(&format!("warning: `{}` was committed and is not there any more", target.display()));
                }
                Err(_) => {
                    request.failed(format!("the staged file `{}` of `{}` is gone", temporary.display(), target.display()));
                    return Ok(());
                }
            }
            request.already_committed();
            return Ok(());
        }
        if target.exists() {
            return Err(JobError::new(format!(
                "cannot commit `{}`: there is such a file already; do two sinks write to this folder?",
                target.display()
            )));
        }
        match std::fs::create_dir_all(&parent).and_then(|()| std::fs::rename(&temporary, &target)) {
            Ok(()) => drop(folders.insert(parent)),
            Err(error) => request.retry_later(format!("cannot commit `{}`: {error}", target.display())),
        }
        Ok(())
    }
}

impl Committer for FileCommitter {
    fn start(&mut self, start: &SinkStart) -> JobResult<()> {
        self.open()?;
        self.merged.load()?;
        self.recovering = matches!(start, SinkStart::Resumed { .. });
        if let SinkStart::Fresh = start
            && let Err(refused) = self.agree()
        {
            // Nothing of a run that does not begin stays behind.
            let _ = self.finish();
            return Err(refused);
        }
        Ok(())
    }

    fn commit(&mut self, requests: &mut [CommitRequest]) -> JobResult<()> {
        let mut folders = BTreeSet::new();
        let mut inputs = Vec::new();
        let mut checkpoint = 0;
        for request in requests.iter_mut() {
            let file = StagedFile::decode(request.committable())?;
            self.commit_one(request, &file, &mut folders)?;
            checkpoint = request.checkpoint();
            if !matches!(request.outcome(), CommitOutcome::RetryLater(_)) {
                inputs.extend(file.inputs);
            }
        }
        // New names are safe only when their folders are on disk, and a new folder when the one it is in is.
        let parents: BTreeSet<PathBuf> = folders
            .iter()
            .flat_map(|folder| folder.ancestors().take_while(|folder| folder.starts_with(&self.folder)))
            .map(Path::to_owned)
            .collect();
        for folder in parents {
            sync_folder(&folder).map_err(|error| JobError::io(format_args!("cannot write `{}`", folder.display()), &error))?;
        }
        self.merged.committed(checkpoint, inputs)
    }

    fn discard_unknown(&mut self, start: &SinkStart, waiting: &[Vec<u8>]) -> JobResult<()> {
        self.recovering = false;
        match start {
            SinkStart::Resumed { checkpoint } => self.roll_back_to(*checkpoint)?,
            SinkStart::Fresh => {
                self.clean_up_after_others()?;
                self.replace()?;
            }
        }
        let mut keep =
            waiting.iter().map(|bytes| Ok(StagedFile::decode(bytes)?.temporary)).collect::<JobResult<BTreeSet<_>>>()?;
        self.merged.wait_again(&keep)?;
        keep.extend(self.merged.all().cloned());
        self.clear_staging(&keep)
    }

    fn finish(&mut self) -> JobResult<()> {
        self.lock = None;
        std::fs::remove_dir_all(&self.staging).map_err(|error| cannot_remove(&self.staging, &error))
    }
}

/// The end of a staging folder's name: which sink of a job it is of.
fn uid_of(name: &str) -> &str {
    name.rsplit('-').next().unwrap_or(name)
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
    // Merged files have a letter there.
    if subtask != "c" {
        subtask.parse::<u32>().ok()?;
    }
    number.split('.').next()?.parse::<u64>().ok()?;
    checkpoint.parse().ok()
}
