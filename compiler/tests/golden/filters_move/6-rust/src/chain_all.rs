//! The chain `all`.
use millstream::codegen::*;
use crate::types;
/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let sink_kept_file = cx
        .sink(
            "sink/kept/file",
            "kept into file",
            <millstream::connectors::file::FileSink<
                types::Kept,
                millstream::formats::JsonFormat,
            >>::from_options(
                &Options::new()
                    .with("path", "out")
                    .with_block("format", "json", Options::new()),
            )?,
        )?;
    let where_0 = cx
        .operator::<
            types::Kept,
            _,
            _,
        >(
            "kept/where/0",
            "kept: where",
            Filter::new(|row: &types::Kept| Ok(row.count > 0i64)),
            sink_kept_file,
        )?;
    let select_0 = cx
        .operator::<
            types::Reading,
            _,
            _,
        >(
            "kept/select/0",
            "kept: select",
            Project::new(|row: types::Reading| Ok(types::Kept {
                share: arith::div::<i64, _, _>(100i64, row.count)
                    .at("100 / count", "in.flow:19:31")?,
                count: row.count,
                sensor: row.sensor,
            })),
            where_0,
        )?;
    let union_0 = select_0;
    cx.input::<types::Reading, _>(union_0)
}
