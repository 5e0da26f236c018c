//! `success_file: true`: an empty file `_SUCCESS` beside the rows once the job has ended and all of them are there, as Hadoop and Spark
//! leave it. Whoever waits for the output waits for this name.

use std::path::{Path, PathBuf};

use crate::error::{JobError, JobResult};
use crate::sink::{CommitOutcome, GlobalCommitter, SinkStart};

const NAME: &str = "_SUCCESS";

/// Writes the file, and takes away that of an earlier run: its rows are being added to, or replaced.
pub(super) struct SuccessFile(PathBuf);

impl SuccessFile {
    pub(super) fn new(folder: &Path) -> Self {
        SuccessFile(folder.join(NAME))
    }

    fn failed(&self, what: &str, error: &std::io::Error) -> JobError {
        JobError::io(format!("cannot {what} `{}`", self.0.display()), error)
    }
}

impl GlobalCommitter for SuccessFile {
    fn start(&mut self, _start: &SinkStart) -> JobResult<()> {
        match std::fs::remove_file(&self.0) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(self.failed("remove", &error)),
            _ => Ok(()),
        }
    }

    fn commit(&mut self, _checkpoint: u64, _committables: &[Vec<u8>]) -> JobResult<CommitOutcome> {
        Ok(CommitOutcome::Committed)
    }

    fn finish(&mut self) -> JobResult<()> {
        if let Some(folder) = self.0.parent() {
            std::fs::create_dir_all(folder).map_err(|error| self.failed("make the folder of", &error))?;
        }
        std::fs::File::create(&self.0).and_then(|file| file.sync_all()).map_err(|error| self.failed("write", &error))
    }
}
