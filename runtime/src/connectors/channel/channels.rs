//! The channels of one run: made before the job starts, found by its sources and sinks.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Instant;

use super::queue::Queue;
use super::receiver::Receiver;
use super::sender::Sender;
use crate::error::{JobError, JobResult};
use crate::params::ParamValues;

/// The job's ends of channels, by the uids of its sources and sinks. Given to the job as an
/// [extension](crate::RunOptions::extension); when the job is over, and with it this, all channels end.
#[derive(Default)]
pub struct Channels {
    sources: HashMap<&'static str, Box<dyn End>>,
    sinks: HashMap<&'static str, Box<dyn End>>,
}

/// A queue of some type, and how the job lets go of it.
trait End: Send + Sync {
    fn queue(&self) -> Arc<dyn Any + Send + Sync>;
}

struct SourceEnd<T>(Arc<Queue<T>>);

struct SinkEnd<T>(Arc<Queue<T>>);

impl<T: Send + 'static> End for SourceEnd<T> {
    fn queue(&self) -> Arc<dyn Any + Send + Sync> {
        self.0.clone()
    }
}

impl<T> Drop for SourceEnd<T> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<T: Send + 'static> End for SinkEnd<T> {
    fn queue(&self) -> Arc<dyn Any + Send + Sync> {
        self.0.clone()
    }
}

impl<T> Drop for SinkEnd<T> {
    fn drop(&mut self) {
        self.0.remove_sender();
    }
}

impl Channels {
    /// None yet.
    pub fn new() -> Self {
        Channels::default()
    }

    /// The channel of a source: rows wait in it, so many at most.
    pub fn source<T: Send + 'static>(&mut self, uid: &'static str, capacity: usize) -> Sender<T> {
        let queue = Arc::new(Queue::new(capacity));
        self.sources.insert(uid, Box::new(SourceEnd(queue.clone())));
        Sender::new(queue)
    }

    /// The channel of a sink: rows wait in it, so many at most.
    pub fn sink<T: Send + 'static>(&mut self, uid: &'static str, capacity: usize) -> Receiver<T> {
        let queue = Arc::new(Queue::new(capacity));
        // The job as a whole, over all its attempts.
        queue.add_sender();
        self.sinks.insert(uid, Box::new(SinkEnd(queue.clone())));
        Receiver::new(queue)
    }

    pub(super) fn of_source<T: Send + 'static>(params: &ParamValues, uid: &str) -> JobResult<Arc<Queue<T>>> {
        let channels = params.extension::<Channels>().map_err(|_| missing(uid))?;
        find(&channels.sources, uid)
    }

    pub(super) fn of_sink<T: Send + 'static>(params: &ParamValues, uid: &str) -> JobResult<Arc<Queue<T>>> {
        let channels = params.extension::<Channels>().map_err(|_| missing(uid))?;
        find(&channels.sinks, uid)
    }
}

fn find<T: Send + 'static>(ends: &HashMap<&'static str, Box<dyn End>>, uid: &str) -> JobResult<Arc<Queue<T>>> {
    ends.get(uid).and_then(|end| end.queue().downcast().ok()).ok_or_else(|| missing(uid))
}

fn missing(uid: &str) -> JobError {
    JobError::new(format!("no program holds the channel of `{uid}`: start the job by the function `start` of its module"))
}

impl fmt::Debug for Channels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Channels({} sources, {} sinks)", self.sources.len(), self.sinks.len())
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls on this thread, which sleeps in between. None: the time is over.
pub(super) fn block_on<R>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<R>, until: Option<Instant>) -> Option<R> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(result) = poll(&mut context) {
            return Some(result);
        }
        match until.map(|until| until.saturating_duration_since(Instant::now())) {
            Some(left) if left.is_zero() => return None,
            Some(left) => std::thread::park_timeout(left),
            None => std::thread::park(),
        }
    }
}
