//! The chain `refunds`.

use millstream::codegen::*;
use millstream::connectors::file::FileSource;
use millstream::formats::CsvFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_all = cx.forward::<types::Order>(1)?;
    let union_input_0 = cx
        .operator(
            "all/union_input/0",
            "all: union_input",
            Project::new(|row: types::Order| Ok(types::Order {
                id: row.id,
                amount: arith::neg(row.amount).at("-amount", "in.flow:9:56")?,
                placed_at: row.placed_at,
                customer: row.customer,
            })),
            to_all,
        )?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: Some(|row: &types::Order| Ok(
            Some(
                arith::sub(row.placed_at, Duration(3_600_000_000))
                    .at("placed_at - 1h", "in.flow:7:82")?,
            ),
        )),
        on_error: ErrorPolicy::Fail,
    };
    cx.source("refunds/source/0", "refunds", source, config, union_input_0)
}

/// in.flow:7 source refunds: Order from file { path: "refunds/*.csv", format: csv } watermark placed_at - 1…
pub fn source(_params: &ParamValues) -> JobResult<FileSource<types::Order, CsvFormat>> {
    let options = Options::new()
        .with("path", "refunds/*.csv")
        .with_block("format", "csv", Options::new());
    FileSource::<types::Order, CsvFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
