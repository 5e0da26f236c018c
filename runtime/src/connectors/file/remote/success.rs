//! `_SUCCESS` in a bucket: see the local one.

use std::sync::Arc;

use object_store::ObjectStoreExt;
use object_store::path::Path;

use crate::error::{JobError, JobResult};
use crate::sink::{CommitOutcome, GlobalCommitter, SinkStart};
use crate::storage::{Objects, Remote, block, key_of, root_cause};

/// Puts the object, and takes away that of an earlier run.
pub(crate) struct RemoteSuccess {
    store: Arc<dyn Objects>,
    path: Path,
    shown: String,
}

impl RemoteSuccess {
    pub(crate) fn new(remote: &Remote) -> Self {
        let path = key_of(format!("{}/_SUCCESS", remote.path));
        RemoteSuccess { store: remote.store.clone(), path, shown: format!("{}/_SUCCESS", remote.shown) }
    }

    fn failed(&self, what: &str, error: &object_store::Error) -> JobError {
        JobError::transient(format!("cannot {what} `{}`: {}", self.shown, root_cause(error)))
    }
}

impl GlobalCommitter for RemoteSuccess {
    fn start(&mut self, _start: &SinkStart) -> JobResult<()> {
        let (store, path) = (self.store.clone(), self.path.clone());
        match block(async move { store.delete(&path).await })? {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed("remove", &error)),
        }
    }

    fn commit(&mut self, _checkpoint: u64, _committables: &[Vec<u8>]) -> JobResult<CommitOutcome> {
        Ok(CommitOutcome::Committed)
    }

    fn finish(&mut self) -> JobResult<()> {
        let (store, path) = (self.store.clone(), self.path.clone());
        let put = block(async move { store.put(&path, Vec::new().into()).await })?;
        put.map(drop).map_err(|error| self.failed("write", &error))
    }
}
