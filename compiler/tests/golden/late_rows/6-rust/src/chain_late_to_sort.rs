//! The chain `late_to_sort`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/later")
        .with_block("format", "json", Options::new());
    let sink_late_to_sort_file = cx
        .sink(
            "sink/late_to_sort/file",
            "late_to_sort into file",
            FileSink::<types::Click, JsonFormat>::from_options(&options)?,
        )?;
    let sink_late_to_sort_union_0 = sink_late_to_sort_file;
    cx.input::<types::Click, _>(sink_late_to_sort_union_0)
}
