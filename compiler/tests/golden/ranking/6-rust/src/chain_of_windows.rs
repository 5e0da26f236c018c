//! The chain `of_windows`.

use millstream::codegen::*;
use millstream::connectors::stdout::StdoutSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new().with_block("format", "json", Options::new());
    let sink_of_windows_stdout = cx
        .sink(
            "sink/of_windows/stdout",
            "of_windows into stdout",
            StdoutSink::<types::Bid, JsonFormat>::from_options(&options)?,
        )?;
    let top_0 = cx
        .operator(
            "of_windows/top/0",
            "of_windows: top",
            Flatten::new(
                    WindowAggregate::new(
                        Tumbling::new(60_000_000, 0),
                        TopRows::new(
                            Limit {
                                ties: true,
                                ..Limit::new(2)
                            },
                            |row: &types::Bid| Ok(row.channel.clone()),
                            |row: &types::Bid| Ok(Reverse(AsKey::into_key(row.price))),
                            |row: &types::Bid, _rank| row.clone(),
                            |row: &types::Bid| Ok(row.at),
                        ),
                    ),
                )
                .hold_back(60_000_000),
            sink_of_windows_stdout,
        )?;
    cx.input::<types::Bid, _>(top_0)
}
