//! The chain `lines`.

use millstream::codegen::*;
use millstream::connectors::file::FileSource;
use millstream::formats::TextFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_words = cx.rebalance::<types::Line>(0)?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: None::<fn(&types::Line) -> Result<Option<Timestamp>, EvalError>>,
        on_error: ErrorPolicy::Fail,
    };
    cx.source("lines/source/0", "lines", source, config, to_words)
}

/// in.flow:9 @parallelism(1) source lines: Line from file { path: "lines.txt", format: text }
pub fn source(_params: &ParamValues) -> JobResult<FileSource<types::Line, TextFormat>> {
    let options = Options::new()
        .with("path", "lines.txt")
        .with_block("format", "text", Options::new());
    FileSource::<types::Line, TextFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
