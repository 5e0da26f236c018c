//! The chain `highest`.

use millstream::codegen::*;
use millstream::connectors::stdout::StdoutSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new().with_block("format", "json", Options::new());
    let sink_highest_stdout = cx
        .sink(
            "sink/highest/stdout",
            "highest into stdout",
            StdoutSink::<types::Sink, JsonFormat>::from_options(&options)?,
        )?;
    let sink_highest_changes_0 = cx
        .operator(
            "sink/highest/changes/0",
            "highest: changes",
            Project::new(|change: Change<types::Bid>| Ok(types::Sink {
                op: Str::from(change.kind.name()),
                auction: change.row.auction,
                bidder: change.row.bidder,
                price: change.row.price,
                channel: change.row.channel,
                at: change.row.at,
            })),
            sink_highest_stdout,
        )?;
    let top_0 = cx
        .operator(
            "highest/top/0",
            "highest: top",
            TopTable::new(
                    Limit::new(1),
                    |row: &types::Bid| Ok(row.auction),
                    |row: &types::Bid| Ok(Reverse(AsKey::into_key(row.price))),
                    |row: &types::Bid, _rank| row.clone(),
                )
                .ttl(604_800_000_000),
            sink_highest_changes_0,
        )?;
    cx.input::<types::Bid, _>(top_0)
}
