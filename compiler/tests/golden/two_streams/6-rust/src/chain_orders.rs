//! The chain `orders`.

use millstream::codegen::*;
use millstream::connectors::file::FileSource;
use millstream::formats::CsvFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_all = cx.forward::<types::Order>(0)?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: Some(|row: &types::Order| Ok(
            Some(
                arith::sub(row.placed_at, Duration(60_000_000))
                    .at("placed_at - 1m", "in.flow:6:80")?,
            ),
        )),
        on_error: ErrorPolicy::Fail,
    };
    cx.source("orders/source/0", "orders", source, config, to_all)
}

/// in.flow:6 source orders: Order from file { path: "orders/*.csv", format: csv } watermark placed_at - 1m
pub fn source(_params: &ParamValues) -> JobResult<FileSource<types::Order, CsvFormat>> {
    let options = Options::new()
        .with("path", "orders/*.csv")
        .with_block("format", "csv", Options::new());
    FileSource::<types::Order, CsvFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
