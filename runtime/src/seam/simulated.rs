//! The world of a simulation: one thread, a clock that stands still while anything can be done, and chance from a seed.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;

use super::Point;
use crate::error::{JobError, JobResult};

thread_local! {
    static WORLD: RefCell<Option<Arc<dyn World>>> = const { RefCell::new(None) };
}

/// What a simulation puts in the place of the outside.
pub trait World: Send + Sync {
    /// The clock on the wall, in microseconds since the epoch.
    fn now_micros(&self) -> i64;

    /// The next number of the seed.
    fn random(&self) -> u64;

    /// What happens at this point, one of [`POINTS`](super::POINTS); None: nothing.
    fn reach(&self, point: &'static str) -> Option<Fault>;

    /// A line for people.
    fn said(&self, text: &str);

    /// Where checkpoints are.
    fn store(self: Arc<Self>) -> Arc<dyn ObjectStore>;
}

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It fails.
    Error,
    /// It takes so long.
    Delay(Duration),
    /// The process is gone: what comes next never does. The world has to see to it that nothing outside changes any more.
    Crash,
}

/// The world of everything that runs on this thread from now on; None: the real one.
pub fn enter(world: Option<Arc<dyn World>>) {
    WORLD.with_borrow_mut(|current| *current = world);
}

pub(super) fn world() -> Option<Arc<dyn World>> {
    WORLD.with_borrow(Clone::clone)
}

/// Others get their turn, for a moment of chance.
pub(super) async fn pause() {
    let chance = world().map_or(0, |world| world.random());
    match chance % 4 {
        0 => {}
        1 => tokio::task::yield_now().await,
        _ => tokio::time::sleep(Duration::from_micros(chance % 5000)).await,
    }
}

pub(super) async fn befall(fault: Option<Fault>, point: Point) -> JobResult<()> {
    match fault {
        None => Ok(()),
        Some(Fault::Error) => Err(JobError::transient(format!("simulated failure at {}", point.name()))),
        Some(Fault::Delay(time)) => {
            tokio::time::sleep(time).await;
            Ok(())
        }
        Some(Fault::Crash) => std::future::pending().await,
    }
}
