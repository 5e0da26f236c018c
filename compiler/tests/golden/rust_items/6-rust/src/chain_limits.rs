//! The chain `limits`.

use millstream::codegen::*;
use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_above = cx.broadcast::<types::Limit>(3)?;
    let select_0 = cx
        .operator(
            "above/select/0",
            "above: select",
            Project::new(|row: types::Limit| Ok(types::Limit { most: row.most })),
            to_above,
        )?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: None::<fn(&types::Limit) -> Result<Option<Timestamp>, EvalError>>,
        on_error: ErrorPolicy::Fail,
    };
    cx.source("limits/source/0", "limits", source, config, select_0)
}

/// in.flow:10 source limits: Limit from file { path: "limits.jsonl", format: json }
pub fn source(_params: &ParamValues) -> JobResult<FileSource<types::Limit, JsonFormat>> {
    let options = Options::new()
        .with("path", "limits.jsonl")
        .with_block("format", "json", Options::new());
    FileSource::<types::Limit, JsonFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
