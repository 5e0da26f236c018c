//! The chain `clicks`.

use millstream::codegen::*;
use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_per_minute = cx
        .hash::<types::Click, Str, _>(0, |row: &types::Click| Ok(row.user.clone()))?;
    let to_in_order = cx.hash::<types::Click, (), _>(1, |_row: &types::Click| Ok(()))?;
    let to_leaders = cx
        .hash::<types::Click, Str, _>(2, |row: &types::Click| Ok(row.user.clone()))?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: Some(|row: &types::Click| Ok(
            Some(arith::sub(row.at, Duration(5_000_000)).at("at - 5s", "in.flow:6:81")?),
        )),
        on_error: ErrorPolicy::Fail,
    };
    cx.source(
        "clicks/source/0",
        "clicks",
        source,
        config,
        FanOut::new(to_per_minute, FanOut::new(to_in_order, to_leaders)),
    )
}

/// in.flow:6 source clicks: Click from file { path: "clicks.jsonl", format: json } watermark at - 5s
pub fn source(_params: &ParamValues) -> JobResult<FileSource<types::Click, JsonFormat>> {
    let options = Options::new()
        .with("path", "clicks.jsonl")
        .with_block("format", "json", Options::new());
    FileSource::<types::Click, JsonFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
