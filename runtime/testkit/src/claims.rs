//! What a connector says of itself. The kit holds it to it, and leaves out what follows to be impossible.

/// How often a row comes through when there are failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Once, whatever happens.
    ExactlyOnce,
    /// Once or more.
    AtLeastOnce,
    /// Once or not at all: what can be read only once, and is not acknowledged.
    AtMostOnce,
}

/// Whether a source ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundedness {
    /// Always.
    Bounded,
    /// Never.
    Unbounded,
    /// As its options say.
    Both,
}

/// Where the splits of a source come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Splits {
    /// The store has as many as were written.
    Written,
    /// There is one, whatever the store holds.
    One,
    /// The source makes them, as many as it has readers.
    PerReader,
}

/// What a source claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceClaims {
    /// How often rows come through.
    pub delivery: Delivery,
    /// Whether it ends.
    pub boundedness: Boundedness,
    /// Where splits come from.
    pub splits: Splits,
    /// Rows that are added while it reads come through as well.
    pub grows: bool,
}

impl SourceClaims {
    /// Reads what is there and ends, and can be read again from any position: a folder of files.
    pub const BOUNDED: Self = SourceClaims {
        delivery: Delivery::ExactlyOnce,
        boundedness: Boundedness::Bounded,
        splits: Splits::Written,
        grows: false,
    };

    /// Whether it can be run to its end.
    pub(crate) fn ends(&self) -> bool {
        self.boundedness != Boundedness::Unbounded
    }
}

/// What a sink claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SinkClaims {
    /// How often rows come through.
    pub delivery: Delivery,
    /// Rows become visible when the checkpoint that holds them is complete, not when they are written.
    pub two_phase: bool,
    /// Rows of a complete checkpoint may become visible with a later one: small files wait to be merged.
    pub delayed: bool,
}

impl SinkClaims {
    /// Staged by writers, made visible by a committer.
    pub const EXACTLY_ONCE: Self = SinkClaims { delivery: Delivery::ExactlyOnce, two_phase: true, delayed: false };
    /// Sent when they are written, again after a failure.
    pub const AT_LEAST_ONCE: Self = SinkClaims { delivery: Delivery::AtLeastOnce, two_phase: false, delayed: false };
}
