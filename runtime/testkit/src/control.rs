//! Waiting and chance in tests: waits that fail loudly, and random numbers that are the same in every run.

use std::time::{Duration, Instant};

/// Anything that takes longer is a failure of the test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something is so.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited {} s in vain for: {what}", PATIENCE.as_secs());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A small generator of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Chance(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end.max(1)
    }
}
