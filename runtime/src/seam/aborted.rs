//! The end of a real process at a point, on real threads and with real storage: what a kill does, at the very place that a test names.

use std::collections::VecDeque;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::Point;

/// The variable that says so: a point and which visit to it is the last thing that the process does, such as `compaction.end:2`. With more than
/// one, `compaction.end:1,checkpoint.manifest:1`, each counts visits behind the one before.
pub const ABORT_AT: &str = "MILLSTREAM_ABORT_AT";

/// The points, and how many visits are left.
static TOLD: LazyLock<Option<Mutex<VecDeque<(String, u32)>>>> = LazyLock::new(|| {
    let told = std::env::var(ABORT_AT).ok()?;
    let visits = told.split(',').map(|told| {
        let (point, visit) = told.split_once(':')?;
        Some((point.to_owned(), visit.parse().ok()?))
    });
    visits.collect::<Option<_>>().map(Mutex::new)
});

/// The process is gone, without a word and without cleaning up, if it was told so.
pub(super) fn abort_if_told(point: Point) {
    let Some(told) = &*TOLD else { return };
    let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((_, left)) = told.front_mut().filter(|(next, _)| next == point.name()) else { return };
    *left = left.saturating_sub(1);
    if *left == 0 {
        told.pop_front();
    }
    if told.is_empty() {
        std::process::abort();
    }
}
