//! `blackhole`: a sink that counts rows and forgets them.

#[cfg(feature = "engine")]
mod sink;

#[cfg(feature = "engine")]
pub use sink::BlackholeSink;

use super::{ConnectorSpec, SinkSpec};

/// The connector.
pub static SPEC: ConnectorSpec = ConnectorSpec {
    name: "blackhole",
    doc: "Counts rows and forgets them: to measure, or to try a pipeline without output.",
    feature: None,
    source: None,
    lookup: None,
    sink: Some(SinkSpec {
        rust: "millstream::connectors::blackhole::BlackholeSink",
        options: &[],
        formats: &[],
        accepts_tables: true,
        needs_key: false,
        exactly_once: true,
    }),
};
