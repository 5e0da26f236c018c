//! The chain `orders`.

use millstream::codegen::*;
use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_unpaid = cx
        .hash::<
            types::Order,
            (i64, Option<Str>),
            _,
        >(1, |row: &types::Order| Ok((row.id, row.coupon.clone())))?;
    let to_soon = cx.hash::<types::Order, i64, _>(3, |row: &types::Order| Ok(row.id))?;
    let to_same_hour = cx
        .hash::<types::Order, i64, _>(5, |row: &types::Order| Ok(row.id))?;
    let to_rated = cx
        .hash::<types::Order, Str, _>(7, |row: &types::Order| Ok(row.customer.clone()))?;
    let to_known = cx.forward::<types::Order>(9)?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: Some(|row: &types::Order| Ok(
            Some(
                arith::sub(row.placed_at, Duration(5_000_000))
                    .at("placed_at - 5s", "in.flow:5:81")?,
            ),
        )),
        on_error: ErrorPolicy::Fail,
    };
    cx.source(
        "orders/source/0",
        "orders",
        source,
        config,
        FanOut::new(
            to_unpaid,
            FanOut::new(
                to_soon,
                FanOut::new(to_same_hour, FanOut::new(to_rated, to_known)),
            ),
        ),
    )
}

/// in.flow:5 source orders: Order from file { path: "orders.jsonl", format: json } watermark placed_at - 5s
pub fn source(_params: &ParamValues) -> JobResult<FileSource<types::Order, JsonFormat>> {
    let options = Options::new()
        .with("path", "orders.jsonl")
        .with_block("format", "json", Options::new());
    FileSource::<types::Order, JsonFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
