//! The chain `in_order`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/sorted")
        .with_block("format", "json", Options::new());
    let sink_in_order_file = cx
        .sink(
            "sink/in_order/file",
            "in_order into file",
            FileSink::<types::Click, JsonFormat>::from_options(&options)?,
        )?;
    let to_late_to_sort = cx.rebalance::<types::Click>(3)?;
    let sort_0 = cx
        .operator(
            "in_order/sort/0",
            "in_order: sort",
            Sort::new(|row: &types::Click| Ok(row.at), |_row: &types::Click| Ok(()))
                .with_late(to_late_to_sort),
            sink_in_order_file,
        )?;
    cx.input::<types::Click, _>(sort_0)
}
