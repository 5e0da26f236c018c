//! The chain `payments`.

use millstream::codegen::*;
use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_latest = cx
        .hash::<types::Payment, i64, _>(0, |row: &types::Payment| Ok(row.order_id))?;
    let to_soon = cx
        .hash::<types::Payment, i64, _>(4, |row: &types::Payment| Ok(row.order_id))?;
    let to_same_hour = cx
        .hash::<types::Payment, i64, _>(6, |row: &types::Payment| Ok(row.order_id))?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: Some(|row: &types::Payment| Ok(
            Some(
                arith::sub(row.paid_at, Duration(5_000_000))
                    .at("paid_at - 5s", "in.flow:8:87")?,
            ),
        )),
        on_error: ErrorPolicy::Fail,
    };
    cx.source(
        "payments/source/0",
        "payments",
        source,
        config,
        FanOut::new(to_latest, FanOut::new(to_soon, to_same_hour)),
    )
}

/// in.flow:8 source payments: Payment from file { path: "payments.jsonl", format: json } watermark paid_a…
pub fn source(
    _params: &ParamValues,
) -> JobResult<FileSource<types::Payment, JsonFormat>> {
    let options = Options::new()
        .with("path", "payments.jsonl")
        .with_block("format", "json", Options::new());
    FileSource::<types::Payment, JsonFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
