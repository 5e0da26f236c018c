//! The chain `all`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::CsvFormat;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/big")
        .with_block("format", "csv", Options::new());
    let sink_all_file_1 = cx
        .sink(
            "sink/all/file/1",
            "all into file",
            FileSink::<types::Sink, CsvFormat>::from_options(&options)?,
        )?;
    let sink_all_select_0 = cx
        .operator(
            "sink/all/select/0",
            "all: select",
            Project::new(|row: types::Order| Ok(types::Sink {
                id: row.id,
                customer: row.customer,
            })),
            sink_all_file_1,
        )?;
    let sink_all_where_0 = cx
        .operator(
            "sink/all/where/0",
            "all: where",
            Filter::new(|row: &types::Order| Ok(row.amount > Decimal::<10, 2>(100_000))),
            sink_all_select_0,
        )?;
    let options = Options::new()
        .with("path", "out/all")
        .with_block("format", "json", Options::new());
    let sink_all_file = cx
        .sink(
            "sink/all/file",
            "all into file",
            FileSink::<types::Order, JsonFormat>::from_options(&options)?,
        )?;
    let union_0 = FanOut::new(sink_all_file, sink_all_where_0);
    cx.input::<types::Order, _>(union_0)
}
