//! Waiting for a store on threads that may block: readers of files, committers, and writers at a barrier.

use std::sync::LazyLock;
use std::sync::mpsc::sync_channel;

use tokio::runtime::{Builder, Runtime};

use crate::error::{JobError, JobResult};

/// Requests run here, apart from the tasks: these may be busy for long, and a server does not wait.
static RUNTIME: LazyLock<std::io::Result<Runtime>> = LazyLock::new(|| {
    Builder::new_multi_thread().worker_threads(2).thread_name("millstream-storage").enable_time().enable_io().build()
});

/// Starts something in the background.
pub(crate) fn spawn(work: impl Future<Output = ()> + Send + 'static) -> JobResult<()> {
    match &*RUNTIME {
        Ok(runtime) => {
            runtime.spawn(work);
            Ok(())
        }
        Err(error) => Err(JobError::io("cannot start threads for storage", error)),
    }
}

/// Does something and waits for it, also inside of asynchronous code. Not for code that must go on meanwhile.
pub(crate) fn block<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JobResult<T> {
    let (sender, receiver) = sync_channel(1);
    spawn(async move {
        // Nobody waits any more: the process ends.
        let _ = sender.send(work.await);
    })?;
    receiver.recv().map_err(|_| JobError::transient("a request to a store panicked"))
}
