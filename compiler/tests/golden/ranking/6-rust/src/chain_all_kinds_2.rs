//! The chain `all_kinds_2`.

use millstream::codegen::*;
use millstream::connectors::stdout::StdoutSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new().with_block("format", "json", Options::new());
    let sink_all_kinds_stdout = cx
        .sink(
            "sink/all_kinds/stdout",
            "all_kinds into stdout",
            StdoutSink::<types::Loud, JsonFormat>::from_options(&options)?,
        )?;
    let sink_all_kinds_final_0 = cx
        .operator(
            "sink/all_kinds/final/0",
            "all_kinds: final",
            FinalBag::new(|row: &types::Loud| Ok(row.bidder)),
            sink_all_kinds_stdout,
        )?;
    cx.input::<Change<types::Loud>, _>(sink_all_kinds_final_0)
}
