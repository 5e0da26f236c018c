//! The chain `all`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out")
        .with_block("format", "json", Options::new());
    let sink_kept_file = cx
        .sink(
            "sink/kept/file",
            "kept into file",
            FileSink::<types::Kept, JsonFormat>::from_options(&options)?,
        )?;
    let where_0 = cx
        .operator(
            "kept/where/0",
            "kept: where",
            Filter::new(|row: &types::Kept| Ok(row.count > 0i64)),
            sink_kept_file,
        )?;
    let select_0 = cx
        .operator(
            "kept/select/0",
            "kept: select",
            Project::new(|row: types::Reading| Ok(types::Kept {
                share: arith::div(100i64, row.count).at("100 / count", "in.flow:19:31")?,
                count: row.count,
                sensor: row.sensor,
            })),
            where_0,
        )?;
    let union_0 = select_0;
    cx.input::<types::Reading, _>(union_0)
}
