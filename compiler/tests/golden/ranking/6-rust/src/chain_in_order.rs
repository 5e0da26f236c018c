//! The chain `in_order`.

use millstream::codegen::*;
use millstream::connectors::stdout::StdoutSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new().with_block("format", "json", Options::new());
    let sink_in_order_stdout = cx
        .sink(
            "sink/in_order/stdout",
            "in_order into stdout",
            StdoutSink::<types::Bid, JsonFormat>::from_options(&options)?,
        )?;
    let sort_0 = cx
        .operator(
            "in_order/sort/0",
            "in_order: sort",
            Sort::new(
                |row: &types::Bid| Ok(row.at),
                |row: &types::Bid| Ok(Reverse(AsKey::into_key(row.price))),
            ),
            sink_in_order_stdout,
        )?;
    cx.input::<types::Bid, _>(sort_0)
}
