//! The chain `blocks`.

use millstream::codegen::*;
use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_lost = cx
        .hash::<types::Block, Str, _>(1, |row: &types::Block| Ok(row.number.clone()))?;
    let select_0 = cx
        .operator(
            "lost/select/0",
            "lost: select",
            Project::new(|row: types::Block| Ok(types::Block {
                at: row.at,
                number: row.number,
            })),
            to_lost,
        )?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: Some(|row: &types::Block| Ok(
            Some(arith::sub(row.at, Duration(5_000_000)).at("at - 5s", "in.flow:9:81")?),
        )),
        on_error: ErrorPolicy::Fail,
    };
    cx.source("blocks/source/0", "blocks", source, config, select_0)
}

/// in.flow:9 source blocks: Block from file { path: "blocks.jsonl", format: json } watermark at - 5s
pub fn source(_params: &ParamValues) -> JobResult<FileSource<types::Block, JsonFormat>> {
    let options = Options::new()
        .with("path", "blocks.jsonl")
        .with_block("format", "json", Options::new());
    FileSource::<types::Block, JsonFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
