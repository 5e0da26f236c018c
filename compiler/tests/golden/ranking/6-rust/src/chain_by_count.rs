//! The chain `by_count`.

use millstream::codegen::*;
use millstream::connectors::stdout::StdoutSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new().with_block("format", "json", Options::new());
    let sink_by_count_stdout = cx
        .sink(
            "sink/by_count/stdout",
            "by_count into stdout",
            StdoutSink::<types::Sink2, JsonFormat>::from_options(&options)?,
        )?;
    let sink_by_count_changes_0 = cx
        .operator(
            "sink/by_count/changes/0",
            "by_count: changes",
            Project::new(|change: Change<types::Bidders>| Ok(types::Sink2 {
                op: Str::from(change.kind.name()),
                bidder: change.row.bidder,
                bids: change.row.bids,
                most: change.row.most,
            })),
            sink_by_count_stdout,
        )?;
    let sink_by_count_where_0 = cx
        .operator(
            "sink/by_count/where/0",
            "by_count: where",
            FilterTable::new(|change: &Change<types::Bidders>| {
                let row = &change.row;
                Ok(row.bids > 1i64)
            }),
            sink_by_count_changes_0,
        )?;
    let dedup_0 = cx
        .operator(
            "by_count/dedup/0",
            "by_count: dedup",
            TopTable::over_changes(
                    Limit {
                        latest_first: true,
                        keeps_rest: true,
                        ..Limit::new(1)
                    },
                    |row: &types::Bidders| Ok(row.bids),
                    |_row: &types::Bidders| Ok(()),
                    |row: &types::Bidders, _rank| row.clone(),
                )
                .ttl(604_800_000_000),
            sink_by_count_where_0,
        )?;
    cx.input::<Change<types::Bidders>, _>(dedup_0)
}
