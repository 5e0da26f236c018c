//! The chain `known_2`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/known")
        .with_block("format", "json", Options::new());
    let sink_known_file = cx
        .sink(
            "sink/known/file",
            "known into file",
            FileSink::<types::Known2, JsonFormat>::from_options(&options)?,
        )?;
    let sink_known_final_0 = cx
        .operator(
            "sink/known/final/0",
            "known: final",
            FinalBag::new(|row: &types::Known2| Ok((row.o, row.amount))),
            sink_known_file,
        )?;
    cx.input::<Change<types::Known2>, _>(sink_known_final_0)
}
