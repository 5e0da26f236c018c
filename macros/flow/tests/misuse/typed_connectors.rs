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

/// Takes tables, and makes what writes plain rows.
#[derive(Connector)]
pub struct Rows {}

impl TableSinkConnector for Rows {
    type Sink<T: Record, F: Format> = PlainRows;

    fn table_sink<T: Record, F: Format>(self, format: F, key: TableKey) -> JobResult<PlainRows> {
        Ok(PlainRows)
    }
}

pub struct PlainRows;

impl<T: Record> millstream::sink::Sink<T> for PlainRows {
    type Writer = PlainRows;

    fn writer(&self, context: &millstream::sink::SinkContext) -> JobResult<PlainRows> {
        Ok(PlainRows)
    }
}

impl<T: Record> millstream::sink::SinkWriter<T> for PlainRows {
    fn write(&mut self, row: T) -> JobResult<()> {
        Ok(())
    }
}

fn main() {}
