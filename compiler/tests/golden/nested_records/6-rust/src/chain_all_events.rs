//! The chain `all_events`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out")
        .with_block("format", "json", Options::new());
    let sink_prices_file = cx
        .sink(
            "sink/prices/file",
            "prices into file",
            FileSink::<types::Prices, JsonFormat>::from_options(&options)?,
        )?;
    let select_0 = cx
        .operator(
            "prices/select/0",
            "prices: select",
            Project::new(|row: types::Event| {
                let bid = required(row.bid)
                    .at("select { auction, price }", "in.flow:6:44")?;
                Ok(types::Prices {
                    auction: bid.auction,
                    price: bid.price,
                })
            }),
            sink_prices_file,
        )?;
    let where_0 = cx
        .operator(
            "bids/where/0",
            "bids: where",
            Filter::new(|row: &types::Event| Ok(
                row.bid.is_some()
                    && required(row.bid.as_ref().map(|v1| v1.price))
                        .at("bid..", "_events.flow:7:61")? > 100i64,
            )),
            select_0,
        )?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: Some(|row: &types::Event| Ok(
            if row.bid.is_some() {
                Some(
                    arith::sub(
                            required(row.bid.as_ref().map(|v1| v1.date_time))
                                .at("bid..", "_events.flow:7:61")?,
                            Duration(4_000_000),
                        )
                        .at("dateTime - 4s", "_events.flow:7:81")?,
                )
            } else {
                None
            },
        )),
        on_error: ErrorPolicy::Fail,
    };
    cx.source("all_events/source/0", "all_events", source, config, where_0)
}

/// _events.flow:5 source all_events: Event from file { path: "events.jsonl.gz", format: json }
pub fn source(_params: &ParamValues) -> JobResult<FileSource<types::Event, JsonFormat>> {
    let options = Options::new()
        .with("path", "events.jsonl.gz")
        .with_block("format", "json", Options::new());
    FileSource::<types::Event, JsonFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
