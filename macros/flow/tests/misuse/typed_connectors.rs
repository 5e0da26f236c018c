//! What only rustc knows of connectors.

use millstream::prelude::*;

/// Options that are not derived.
pub struct Plain {
    pub url: String,
}

impl SinkConnector for Plain {
    type Sink<T: Record, F: Format> = Nothing;

    fn sink<T: Record, F: Format>(self, format: F) -> JobResult<Nothing> {
        Ok(Nothing)
    }
}

/// What is no sink.
pub struct Nothing;

fn main() {}
