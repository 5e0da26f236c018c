//! Panics become errors: one file that is hard to look at must not take the server with it.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What the work gives; Err: it has panicked, with this message. What it was changing must not be used any more.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it does not say why".to_owned())
    })
}
