//! What a job takes from outside of itself: clocks, threads, ids, the store of its checkpoints, and the failures that befall it. All of
//! it comes through here, so that a simulation can put its own world in their place: the feature `sim`, without which these are
//! plain calls.

#[cfg(feature = "sim")]
mod aborted;
mod points;
#[cfg(feature = "sim")]
mod simulated;

use crate::error::{JobError, JobResult};

#[cfg(feature = "sim")]
pub use aborted::ABORT_AT;
#[cfg(feature = "sim")]
pub use points::POINTS;
pub(crate) use points::Point;
#[cfg(feature = "sim")]
pub use simulated::{Fault, World, enter};
/// The clock of time-outs and intervals. That of tokio: in a simulation it stands still while anything can be done.
pub(crate) use tokio::time::Instant;

#[cfg(feature = "sim")]
use simulated::world;

/// The clock on the wall, in microseconds since the epoch.
pub(crate) fn now_micros() -> i64 {
    #[cfg(feature = "sim")]
    if let Some(world) = world() {
        return world.now_micros();
    }
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// Waits until then; None: for ever. Cancel safe.
pub(crate) async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// An id that no other run has.
pub(crate) fn run_id() -> String {
    #[cfg(feature = "sim")]
    if let Some(world) = world() {
        return format!("{:016x}", world.random());
    }
    use std::hash::{BuildHasher, Hasher};
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.write_i64(now_micros());
    format!("{:016x}", hasher.finish())
}

/// Work that may take long or block, away from the tasks. The error is what it said when it panicked.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    #[cfg(feature = "sim")]
    if world().is_some() {
        simulated::pause().await;
        return Ok(work());
    }
    tokio::task::spawn_blocking(work).await.map_err(crate::panics::message)
}

/// Work that may block for a short time, in its place.
pub(crate) fn in_place<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(feature = "sim")]
    if world().is_some() {
        return work();
    }
    tokio::task::block_in_place(work)
}

/// Work that may hang: neither the coordinator nor the end of the process waits for its thread.
pub(crate) async fn own_thread<T: Send + 'static>(
    name: String,
    work: impl FnOnce() -> JobResult<T> + Send + 'static,
) -> JobResult<T> {
    #[cfg(feature = "sim")]
    if world().is_some() {
        simulated::pause().await;
        return work();
    }
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let thread = std::thread::Builder::new().name(name.clone());
    let started = thread.spawn(move || {
        let _ = sender.send(work());
    });
    match started {
        Ok(_) => receiver.await.unwrap_or_else(|_| Err(JobError::transient(format!("the thread `{name}` panicked")))),
        Err(error) => Err(JobError::io(format!("cannot start the thread `{name}`"), &error)),
    }
}

/// Whether input is looked at before messages, for once: threads run beside each other, and a message may come in the middle of a step.
/// In a simulation there is one thread, and chance decides.
pub(crate) fn input_first() -> bool {
    #[cfg(feature = "sim")]
    if let Some(world) = world() {
        return world.random().is_multiple_of(4);
    }
    false
}

/// A place where something can go wrong. Nothing does, but in a simulation: there it may fail, take long, or be the end of the
/// process; and in a real process that a test has told to [abort there](aborted).
#[cfg_attr(not(feature = "sim"), allow(clippy::unused_async, reason = "simulated failures take time"))]
pub(crate) async fn reach(point: Point) -> JobResult<()> {
    #[cfg(feature = "sim")]
    match world() {
        Some(world) => return simulated::befall(world.reach(point.name()), point).await,
        None => aborted::abort_if_told(point),
    }
    let _ = point;
    Ok(())
}

/// Whether this is a simulation, in which everything is small and what is rare is to happen.
pub(crate) fn is_simulated() -> bool {
    #[cfg(feature = "sim")]
    return world().is_some();
    #[cfg(not(feature = "sim"))]
    false
}

/// A line for people, which goes elsewhere in a simulation. Gives whether it did.
pub(crate) fn said(text: &str) -> bool {
    #[cfg(feature = "sim")]
    if let Some(world) = world() {
        world.said(text);
        return true;
    }
    let _ = text;
    false
}

/// The store of checkpoints of the simulated world.
#[cfg(feature = "sim")]
pub(crate) fn store() -> Option<std::sync::Arc<dyn object_store::ObjectStore>> {
    world().map(|world| world.store())
}
