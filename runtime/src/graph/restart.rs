//! What a job does after a failure: `restart: ..` of its settings. Times in microseconds.

/// `restart: fixed(3, 10s)`, `restart: none`, `restart: exponential`, `restart: failure_rate(3, 5m, 10s)`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestartSettings {
    /// Exponential with checkpoints, none without.
    Default,
    None,
    Fixed {
        attempts: u32,
        delay: i64,
    },
    Exponential(Backoff),
    FailureRate(FailureRate),
}

/// Restarts without end, after delays that grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The first delay, in microseconds.
    pub first: i64,
    /// The longest.
    pub most: i64,
    /// What a delay is multiplied with for the next, in thousandths.
    pub factor: u32,
    /// A delay may be so much of itself shorter or longer, in thousandths: jobs that failed together do not come back together.
    pub jitter: u32,
    /// After so long without a failure the delays begin anew.
    pub reset: i64,
}

impl Backoff {
    /// From 1 s by half as much again up to 1 minute, a tenth more or less; anew after a quiet hour.
    pub const DEFAULT: Backoff = Backoff { first: 1_000_000, most: 60_000_000, factor: 1500, jitter: 100, reset: 3_600_000_000 };
}

/// Restarts while failures are rare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureRate {
    /// So many failures are taken ..
    pub failures: u32,
    /// .. within this time.
    pub within: i64,
    /// The time before each restart.
    pub delay: i64,
}
