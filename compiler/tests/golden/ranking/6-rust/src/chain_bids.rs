//! The chain `bids`.

use millstream::codegen::*;
use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_all_kinds = cx.forward::<Change<types::Loud>>(15)?;
    let inserts_0 = cx
        .operator(
            "all_kinds/inserts/0",
            "all_kinds: inserts",
            Project::new(|row: types::Loud| Ok(Change::insert(row))),
            to_all_kinds,
        )?;
    let to_agree = cx.forward::<Change<types::Quiet>>(13)?;
    let inserts_0_2 = cx
        .operator(
            "agree/inserts/0",
            "agree: inserts",
            Project::new(|row: types::Quiet| Ok(Change::insert(row))),
            to_agree,
        )?;
    let side_1 = cx
        .operator(
            "agree/side/1",
            "agree: side",
            Project::new(|row: types::Loud| Ok(types::Quiet {
                bidder: row.bidder,
                second: true,
            })),
            inserts_0_2,
        )?;
    let to_quiet_2 = cx.forward::<types::Quiet>(10)?;
    let side_1_2 = cx
        .operator(
            "quiet/side/1",
            "quiet: side",
            Project::new(|row: types::Loud| Ok(types::Quiet {
                bidder: row.bidder,
                second: true,
            })),
            to_quiet_2,
        )?;
    let to_quiet = cx
        .hash::<types::Loud, i64, _>(8, |row: &types::Loud| Ok(row.bidder))?;
    let select_0 = cx
        .operator(
            "quiet/select/0",
            "quiet: select",
            Project::new(|row: types::Bid| Ok(types::Loud { bidder: row.bidder })),
            to_quiet,
        )?;
    let select_0_2 = cx
        .operator(
            "loud/select/0",
            "loud: select",
            Project::new(|row: types::Bid| Ok(types::Loud { bidder: row.bidder })),
            FanOut::new(side_1_2, FanOut::new(side_1, inserts_0)),
        )?;
    let where_0 = cx
        .operator(
            "loud/where/0",
            "loud: where",
            Filter::new(|row: &types::Bid| Ok(compare::gt(&row.price, &100f64))),
            select_0_2,
        )?;
    let to_best = cx.hash::<types::Bid, i64, _>(0, |row: &types::Bid| Ok(row.auction))?;
    let to_highest = cx
        .hash::<types::Bid, i64, _>(1, |row: &types::Bid| Ok(row.auction))?;
    let to_of_windows = cx
        .hash::<
            types::Bid,
            Option<Str>,
            _,
        >(2, |row: &types::Bid| Ok(row.channel.clone()))?;
    let to_in_order = cx.hash::<types::Bid, (), _>(3, |_row: &types::Bid| Ok(()))?;
    let to_bidders = cx
        .hash::<types::Bid, i64, _>(4, |row: &types::Bid| Ok(row.bidder))?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: Some(|row: &types::Bid| Ok(
            Some(arith::sub(row.at, Duration(5_000_000)).at("at - 5s", "in.flow:12:61")?),
        )),
        on_error: ErrorPolicy::Fail,
    };
    cx.source(
        "bids/source/0",
        "bids",
        source,
        config,
        FanOut::new(
            where_0,
            FanOut::new(
                select_0,
                FanOut::new(
                    to_best,
                    FanOut::new(
                        to_highest,
                        FanOut::new(to_of_windows, FanOut::new(to_in_order, to_bidders)),
                    ),
                ),
            ),
        ),
    )
}

/// in.flow:12 source bids: Bid from file { path: "bids.jsonl" } watermark at - 5s
pub fn source(_params: &ParamValues) -> JobResult<FileSource<types::Bid, JsonFormat>> {
    let options = Options::new()
        .with("path", "bids.jsonl")
        .with_block("format", "json", Options::new());
    FileSource::<types::Bid, JsonFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
