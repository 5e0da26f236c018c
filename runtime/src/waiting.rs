//! What async functions of the user wait for, beside what crates of their own give them.

use crate::value::Duration;

/// Work that blocks (reading a file, asking a service by a blocking client), away from the threads that rows are handled on.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match crate::seam::blocking(work).await {
        Ok(value) => value,
        // A panic goes on where it is waited for.
        Err(said) => std::panic::resume_unwind(Box::new(said)),
    }
}

/// Lets time go by; none, if it is negative.
pub async fn sleep(time: Duration) {
    let micros = u64::try_from(time.0).unwrap_or_default();
    tokio::time::sleep(std::time::Duration::from_micros(micros)).await;
}
