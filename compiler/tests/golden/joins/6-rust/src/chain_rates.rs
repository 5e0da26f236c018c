//! The chain `rates`.

use millstream::codegen::*;
use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_rated = cx
        .hash::<types::Rates, Str, _>(8, |row: &types::Rates| Ok(row.customer.clone()))?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: Some(|row: &types::Rates| Ok(Some(row.since))),
        on_error: ErrorPolicy::Fail,
    };
    cx.source("rates/source/0", "rates", source, config, to_rated)
}

/// in.flow:10 source rates: { customer: string, rate: float64, since: timestamp } from file { path: "rates.j…
pub fn source(_params: &ParamValues) -> JobResult<FileSource<types::Rates, JsonFormat>> {
    let options = Options::new()
        .with("path", "rates.jsonl")
        .with_block("format", "json", Options::new());
    FileSource::<types::Rates, JsonFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
