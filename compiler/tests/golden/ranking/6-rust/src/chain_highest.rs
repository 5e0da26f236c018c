//! The chain `highest`.

use millstream::codegen::*;
use millstream::connectors::stdout::StdoutSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_highest_2 = cx.hash::<types::Sink, (), _>(18, |_row: &types::Sink| Ok(()))?;
    let sink_highest_final_1 = cx
        .operator(
            "sink/highest/final/1",
            "highest: final",
            Final::new(|row: &types::Sink| Ok(AsKey::into_key(row.auction))),
            to_highest_2,
        )?;
    let sink_highest_select_0 = cx
        .operator(
            "sink/highest/select/0",
            "highest: select",
            Project::new(|change: Change<types::Bid>| {
                let row = change.row;
                Ok(Change {
                    kind: change.kind,
                    row: types::Sink {
                        auction: row.auction,
                        price: row.price,
                    },
                })
            }),
            sink_highest_final_1,
        )?;
    let options = Options::new().with_block("format", "json", Options::new());
    let sink_highest_stdout = cx
        .sink(
            "sink/highest/stdout",
            "highest into stdout",
            StdoutSink::<types::Bid, JsonFormat>::from_options(&options)?,
        )?;
    let sink_highest_final_0 = cx
        .operator(
            "sink/highest/final/0",
            "highest: final",
            Final::new(|row: &types::Bid| Ok(AsKey::into_key(row.auction))),
            sink_highest_stdout,
        )?;
    let top_0 = cx
        .operator(
            "highest/top/0",
            "highest: top",
            Upserts::new(
                TopTable::new(
                        Limit::new(1),
                        |row: &types::Bid| Ok(row.auction),
                        |row: &types::Bid| Ok(Reverse(AsKey::into_key(row.price))),
                        |row: &types::Bid, _rank| row.clone(),
                    )
                    .ttl(604_800_000_000),
            ),
            FanOut::new(sink_highest_final_0, sink_highest_select_0),
        )?;
    cx.input::<types::Bid, _>(top_0)
}
