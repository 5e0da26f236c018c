//! The chain `phoned`.

use millstream::codegen::*;
use millstream::connectors::socket::SocketSource;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_per_shop = cx.forward::<types::Order>(1)?;
    cx.align("shops", 60000000, None);
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: Some(|row: &types::Order| Ok(
            Some(
                arith::sub(row.placed_at, Duration(10_000_000))
                    .at("placed_at - 10s", "in.flow:12:15")?,
            ),
        )),
        on_error: ErrorPolicy::Fail,
    };
    cx.source("phoned/source/0", "phoned", source, config, to_per_shop)
}

/// in.flow:11 source phoned: Order from socket { address: "localhost:9000", format: json } watermark place…
pub fn source(
    _params: &ParamValues,
) -> JobResult<SocketSource<types::Order, JsonFormat>> {
    let options = Options::new()
        .with("address", "localhost:9000")
        .with_block("format", "json", Options::new());
    SocketSource::<types::Order, JsonFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
