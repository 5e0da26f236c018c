//! The chain `orders`.

use millstream::codegen::*;
use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_per_shop = cx.forward::<types::Order>(0)?;
    cx.idle_after(30000000);
    cx.align("shops", 60000000, None);
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: Some(|row: &types::Order| Ok(
            Some(
                arith::sub(row.placed_at, Duration(10_000_000))
                    .at("placed_at - 10s", "in.flow:7:15")?,
            ),
        )),
        on_error: ErrorPolicy::Fail,
    };
    cx.source("orders/source/0", "orders", source, config, to_per_shop)
}

/// in.flow:6 source orders: Order from file { path: "in/*.json", format: json, watch: every 5s } watermark p…
pub fn source(_params: &ParamValues) -> JobResult<FileSource<types::Order, JsonFormat>> {
    let options = Options::new()
        .with("path", "in/*.json")
        .with("watch", 5_000_000_i64)
        .with_block("format", "json", Options::new());
    FileSource::<types::Order, JsonFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
