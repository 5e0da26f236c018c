//! `socket`: records that a TCP server sends, line by line.

#[cfg(feature = "engine")]
mod fetch;
#[cfg(feature = "engine")]
mod source;
#[cfg(all(test, feature = "engine"))]
mod tests;

#[cfg(feature = "engine")]
pub use source::{SocketSource, SocketSplit};

use super::{ConnectorSpec, OptionSpec, OptionTy, SourceSpec};

/// The connector.
pub static SPEC: ConnectorSpec = ConnectorSpec {
    name: "socket",
    feature: None,
    doc: "A TCP server that is connected to, and sends records. One reader reads them, whatever the parallelism. A connection \
          that ends is opened again. What was sent cannot be asked for again: rows are delivered at most once.",
    source: Some(SourceSpec {
        rust: "millstream::connectors::socket::SocketSource",
        options: &[
            OptionSpec::required(
                "address",
                OptionTy::String,
                "Host and port: `127.0.0.1:9000`, `example.org:9000`, `[::1]:9000`.",
            ),
            OptionSpec::optional(
                "give_up_after",
                OptionTy::Duration,
                "5m",
                "How long to try to connect, at the start and after a connection has ended, before the job fails.",
            ),
            OptionSpec::optional("rate", OptionTy::Int, "", "Rows per second; without it as fast as they come."),
        ],
        formats: &["json", "csv", "text"],
        replayable: false,
        bounded: |_| false,
        columns: None,
    }),
    lookup: None,
    sink: None,
};
