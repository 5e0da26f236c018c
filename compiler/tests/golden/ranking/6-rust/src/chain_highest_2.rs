//! The chain `highest_2`.

use millstream::codegen::*;
use millstream::connectors::stdout::StdoutSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new().with_block("format", "json", Options::new());
    let sink_highest_stdout_1 = cx
        .sink(
            "sink/highest/stdout/1",
            "highest into stdout",
            StdoutSink::<types::Sink, JsonFormat>::from_options(&options)?,
        )?;
    let sink_highest_sort_0 = cx
        .operator(
            "sink/highest/sort/0",
            "highest: sort",
            Sort::new(
                at_the_end::<types::Sink>,
                |row: &types::Sink| Ok(Reverse(AsKey::into_key(row.price))),
            ),
            sink_highest_stdout_1,
        )?;
    cx.input::<types::Sink, _>(sink_highest_sort_0)
}
