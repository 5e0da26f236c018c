//! The chain `bad`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/bad")
        .with_block("format", "json", Options::new());
    let sink_bad_file = cx
        .sink(
            "sink/bad/file",
            "bad into file",
            FileSink::<types::Bad, JsonFormat>::from_options(&options)?,
        )?;
    let select_0 = cx
        .operator(
            "bad/select/0",
            "bad: select",
            Project::new(|row: types::FailedRow| Ok(types::Bad {
                source: row.source,
                error: row.error,
                raw: row.raw,
            })),
            sink_bad_file,
        )?;
    let union_0 = select_0;
    cx.input::<types::FailedRow, _>(union_0)
}
