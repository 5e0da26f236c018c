//! The chain `latest`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/latest")
        .with_block("format", "json", Options::new());
    let sink_latest_file = cx
        .sink(
            "sink/latest/file",
            "latest into file",
            FileSink::<types::Sink2, JsonFormat>::from_options(&options)?,
        )?;
    let sink_latest_changes_0 = cx
        .operator(
            "sink/latest/changes/0",
            "latest: changes",
            Project::new(|change: Change<types::Bid>| Ok(types::Sink2 {
                op: Str::from(change.kind.name()),
                auction: change.row.auction,
                bidder: change.row.bidder,
                price: change.row.price,
                at: change.row.at,
            })),
            sink_latest_file,
        )?;
    let dedup_0 = cx
        .operator(
            "latest/dedup/0",
            "latest: dedup",
            DedupTable::last(
                |row: &types::Bid| Ok((row.bidder, row.auction)),
                |row: &types::Bid| Ok(row.at),
            ),
            sink_latest_changes_0,
        )?;
    cx.input::<types::Bid, _>(dedup_0)
}
