//! `_SUCCESS` in a bucket: see the local one.

use object_store::ObjectStoreExt;

use crate::connectors::file::success::NAME;
use crate::error::{JobError, JobResult};
use crate::sink::{CommitOutcome, GlobalCommitter, SinkStart};
use crate::storage::{Remote, block, key_of, root_cause};

/// Puts the object, and takes away that of an earlier run.
pub(crate) struct RemoteSuccess(Remote);

impl RemoteSuccess {
    pub(crate) fn new(remote: &Remote) -> Self {
        RemoteSuccess(remote.clone())
    }

    fn failed(&self, what: &str, error: &object_store::Error) -> JobError {
        JobError::transient(format!("cannot {what} `{}/{NAME}`: {}", self.0.shown, root_cause(error)))
    }
}

impl GlobalCommitter for RemoteSuccess {
    fn start(&mut self, _start: &SinkStart) -> JobResult<()> {
        let (store, path) = (self.0.store.clone(), key_of(self.0.key(NAME)));
        match block(async move { store.delete(&path).await })? {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed("remove", &error)),
        }
    }

    fn commit(&mut self, _checkpoint: u64, _committables: &[Vec<u8>]) -> JobResult<CommitOutcome> {
        Ok(CommitOutcome::Committed)
    }

    fn finish(&mut self) -> JobResult<()> {
        let (store, path) = (self.0.store.clone(), key_of(self.0.key(NAME)));
        let put = block(async move { store.put(&path, Vec::new().into()).await })?;
        put.map(drop).map_err(|error| self.failed("write", &error))
    }
}
