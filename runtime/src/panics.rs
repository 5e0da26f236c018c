//! Panics in tasks: where they happened, for the message of the failure, and no raw noise on standard error.
//!
//! The hook of a binary remembers the last few panics of the job's own threads and says nothing of them: each ends a task, and
//! that is reported with what is remembered here. Other threads keep the hook that was there, and so does `RUST_BACKTRACE`.

use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, Once, PoisonError};

use crate::error::{JobError, JobResult};

/// So many panics are remembered until they are reported.
const REMEMBERED: usize = 64;

/// What was said, and where.
static LAST: Mutex<VecDeque<(String, String)>> = Mutex::new(VecDeque::new());

thread_local! {
    static OWN: Cell<bool> = const { Cell::new(false) };
}

/// From now on panics of this thread are those of the job.
pub(crate) fn own_thread() {
    OWN.set(true);
}

/// Once for a process.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = std::panic::take_hook();
        let traced = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
        std::panic::set_hook(Box::new(move |info| {
            let own = OWN.try_with(Cell::get).unwrap_or(false);
            if own && let Some(place) = info.location() {
                let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
                if last.len() == REMEMBERED {
                    last.pop_front();
                }
                last.push_back((said(info.payload()), format!("{}:{}:{}", place.file(), place.line(), place.column())));
            }
            if !own || traced {
                before(info);
            }
        }));
    });
}

/// `index out of bounds (src/enrich.rs:12:5)`: what a panic said, with its place where it is known.
pub(crate) fn described(payload: &(dyn Any + Send)) -> String {
    let text = said(payload);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    match last.iter().rposition(|(said, _)| *said == text).and_then(|at| last.remove(at)) {
        Some((_, place)) => format!("{text} ({place})"),
        None => text,
    }
}

/// Calls the code of a user on a thread of the engine's own. A panic there is a failure of `what`, as one of a task is: what it leaves behind
/// goes away with the attempt.
pub(crate) fn guarded<T>(what: &str, call: impl FnOnce() -> JobResult<T>) -> JobResult<T> {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|panic| Err(JobError::transient(format!("{what} panicked: {}", described(&*panic)))))
}

/// What a task said when it panicked, with the place; or why it did not end.
pub(crate) fn message(error: tokio::task::JoinError) -> String {
    match error.try_into_panic() {
        Ok(panic) => described(&*panic),
        Err(error) => error.to_string(),
    }
}

fn said(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_with_its_place() {
        install();
        let thread = std::thread::spawn(|| {
            own_thread();
            panic!("a {}", "mistake")
        });
        let payload = thread.join().unwrap_err();
        let told = described(&*payload);
        assert!(told.starts_with("a mistake (") && told.contains("panics.rs:"), "{told}");
        assert_eq!(described(&*payload), "a mistake", "told once");
    }
}
