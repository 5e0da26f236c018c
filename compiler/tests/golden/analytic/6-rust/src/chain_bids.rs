//! The chain `bids`.

use millstream::codegen::*;
use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_beside = cx
        .hash::<types::Bid, i64, _>(0, |row: &types::Bid| Ok(row.auction))?;
    let to_behind = cx
        .hash::<types::Bid, i64, _>(4, |row: &types::Bid| Ok(row.auction))?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: Some(|row: &types::Bid| Ok(
            Some(arith::sub(row.at, Duration(5_000_000)).at("at - 5s", "in.flow:6:75")?),
        )),
        on_error: ErrorPolicy::Fail,
    };
    cx.source("bids/source/0", "bids", source, config, FanOut::new(to_beside, to_behind))
}

/// in.flow:6 source bids: Bid from file { path: "bids.jsonl", format: json } watermark at - 5s
pub fn source(_params: &ParamValues) -> JobResult<FileSource<types::Bid, JsonFormat>> {
    let options = Options::new()
        .with("path", "bids.jsonl")
        .with_block("format", "json", Options::new());
    FileSource::<types::Bid, JsonFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
