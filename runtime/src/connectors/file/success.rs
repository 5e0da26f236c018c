//! `success_file: true`: an empty file `_SUCCESS` beside the rows once the job has ended and all of them are there, as Hadoop and Spark
//! leave it. Whoever waits for the output waits for this name.

use std::path::{Path, PathBuf};

use crate::error::{JobError, JobResult};
use crate::sink::{CommitOutcome, GlobalCommitter, SinkStart};
use crate::storage::{create_durably, sync_folder};

pub(super) const NAME: &str = "_SUCCESS";

/// Writes the file, and takes away that of an earlier run: its rows are being added to, or replaced.
pub(super) struct SuccessFile(PathBuf);

impl SuccessFile {
    pub(super) fn new(folder: &Path) -> Self {
        SuccessFile(folder.join(NAME))
    }

    /// Whether it is there or not is on disk.
    fn sync(&self, what: &str) -> JobResult<()> {
        self.0.parent().map_or(Ok(()), |folder| sync_folder(folder).map_err(|error| self.failed(what, &error)))
    }

    fn failed(&self, what: &str, error: &std::io::Error) -> JobError {
        JobError::io(format!("cannot {what} `{}`", self.0.display()), error)
    }
}

impl GlobalCommitter for SuccessFile {
    fn start(&mut self, _start: &SinkStart) -> JobResult<()> {
        match std::fs::remove_file(&self.0) {
            // After a power cut it must not be back while rows are being written.
            Ok(()) => self.sync("remove"),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(self.failed("remove", &error)),
        }
    }

    fn commit(&mut self, _checkpoint: u64, _committables: &[Vec<u8>]) -> JobResult<CommitOutcome> {
        Ok(CommitOutcome::Committed)
    }

    fn finish(&mut self) -> JobResult<()> {
        if let Some(folder) = self.0.parent() {
            create_durably(folder).map_err(|error| self.failed("make the folder of", &error))?;
        }
        std::fs::File::create(&self.0).and_then(|file| file.sync_all()).map_err(|error| self.failed("write", &error))?;
        self.sync("write")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_there_when_the_job_has_ended_and_gone_when_one_begins() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("out");
        let mut success = SuccessFile::new(&folder);
        success.start(&SinkStart::Fresh).unwrap();
        assert!(!folder.exists());
        success.finish().unwrap();
        assert!(folder.join(NAME).is_file(), "also where no row was written");
        for start in [SinkStart::Resumed { checkpoint: 3 }, SinkStart::Fresh] {
            success.start(&start).unwrap();
            assert!(!folder.join(NAME).exists());
            success.finish().unwrap();
        }
        std::fs::remove_file(folder.join(NAME)).unwrap();
        std::fs::create_dir(folder.join(NAME)).unwrap();
        let error = success.finish().unwrap_err().to_string();
        assert!(error.contains("cannot write `") && error.contains("_SUCCESS"), "{error}");
    }
}
