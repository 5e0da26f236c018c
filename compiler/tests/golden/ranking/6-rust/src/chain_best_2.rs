//! The chain `best_2`.

use millstream::codegen::*;
use millstream::connectors::stdout::StdoutSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new().with_block("format", "json", Options::new());
    let sink_best_stdout = cx
        .sink(
            "sink/best/stdout",
            "best into stdout",
            StdoutSink::<types::Best, JsonFormat>::from_options(&options)?,
        )?;
    let sink_best_final_0 = cx
        .operator(
            "sink/best/final/0",
            "best: final",
            Final::new(|row: &types::Best| Ok((
                AsKey::into_key(row.auction),
                AsKey::into_key(row.rank),
            ))),
            sink_best_stdout,
        )?;
    cx.input::<Change<types::Best>, _>(sink_best_final_0)
}
