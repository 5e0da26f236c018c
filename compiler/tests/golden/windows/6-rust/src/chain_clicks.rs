//! The chain `clicks`.

use millstream::codegen::*;
use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    cx.in_flight::<types::Labelled>(6);
    let to_labelled = cx
        .hash::<
            types::Labelled,
            Str,
            _,
        >(6, |row: &types::Labelled| Ok(row.label.key.clone()))?;
    let explode_0 = cx
        .operator(
            "labelled/explode/0",
            "labelled: explode",
            Explode::new(|row: types::Click| {
                let list = row.labels.clone();
                Ok(
                    list
                        .into_iter()
                        .flatten()
                        .map(move |item| types::Labelled {
                            user: row.user.clone(),
                            page: row.page.clone(),
                            labels: row.labels.clone(),
                            at: row.at,
                            label: types::LabelledLabel {
                                key: item.0,
                                value: item.1,
                            },
                        }),
                )
            }),
            to_labelled,
        )?;
    cx.in_flight::<types::Click>(0);
    let to_tumbling = cx
        .hash::<types::Click, Str, _>(0, |row: &types::Click| Ok(row.page.clone()))?;
    cx.in_flight::<types::Click>(1);
    let to_sliding = cx
        .hash::<types::Click, Str, _>(1, |row: &types::Click| Ok(row.page.clone()))?;
    cx.in_flight::<types::Click>(2);
    let to_session = cx
        .hash::<types::Click, Str, _>(2, |row: &types::Click| Ok(row.user.clone()))?;
    cx.in_flight::<types::Click>(3);
    let to_cumulative = cx
        .hash::<types::Click, Str, _>(3, |row: &types::Click| Ok(row.page.clone()))?;
    cx.in_flight::<types::Click>(4);
    let to_counted = cx
        .hash::<types::Click, Str, _>(4, |row: &types::Click| Ok(row.user.clone()))?;
    cx.in_flight::<types::Click>(5);
    let to_by_clock = cx
        .hash::<types::Click, Str, _>(5, |row: &types::Click| Ok(row.user.clone()))?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: Some(|row: &types::Click| Ok(
            Some(arith::sub(row.at, Duration(5_000_000)).at("at - 5s", "in.flow:6:81")?),
        )),
        on_error: ErrorPolicy::Fail,
    };
    cx.source(
        "clicks/source/0",
        "clicks",
        source,
        config,
        FanOut::new(
            explode_0,
            FanOut::new(
                to_tumbling,
                FanOut::new(
                    to_sliding,
                    FanOut::new(
                        to_session,
                        FanOut::new(to_cumulative, FanOut::new(to_counted, to_by_clock)),
                    ),
                ),
            ),
        ),
    )
}

/// in.flow:6 source clicks: Click from file { path: "clicks.jsonl", format: json } watermark at - 5s
pub fn source(_params: &ParamValues) -> JobResult<FileSource<types::Click, JsonFormat>> {
    let options = Options::new()
        .with("path", "clicks.jsonl")
        .with_block("format", "json", Options::new());
    FileSource::<types::Click, JsonFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
