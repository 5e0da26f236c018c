//! `stdout`: a sink that prints rows.

#[cfg(feature = "engine")]
mod sink;

#[cfg(feature = "engine")]
pub use sink::{StdoutSink, StdoutWriter};

use super::{ConnectorSpec, SinkSpec};

/// The connector.
pub static SPEC: ConnectorSpec = ConnectorSpec {
    name: "stdout",
    doc: "Prints rows to standard output as they come. After a failure, rows since the last checkpoint are printed again.",
    feature: None,
    source: None,
    lookup: None,
    sink: Some(SinkSpec {
        rust: "millstream::connectors::stdout::StdoutSink",
        options: &[],
        formats: &["json", "csv", "text"],
        accepts_tables: false,
        needs_key: false,
        exactly_once: false,
    }),
};
