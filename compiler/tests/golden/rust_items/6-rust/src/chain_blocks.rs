//! The chain `blocks`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "open")
        .with_block("format", "json", Options::new());
    let sink_open_file = cx
        .sink(
            "sink/open/file",
            "open into file",
            FileSink::<types::Open5, JsonFormat>::from_options(&options)?,
        )?;
    let select_0 = cx
        .operator(
            "open/select/0",
            "open: select",
            Project::new(|row: types::Open4| Ok(types::Open5 {
                number: row.number,
                bank: row.bank,
            })),
            sink_open_file,
        )?;
    let explode_0 = cx
        .operator(
            "open/explode/0",
            "open: explode",
            Explode::new(|row: types::Open3| {
                let list = row.banks_of_answer_1.clone();
                Ok(
                    list
                        .into_iter()
                        .map(move |item| types::Open4 {
                            number: row.number.clone(),
                            banks_of_answer_1: row.banks_of_answer_1.clone(),
                            bank: item,
                        }),
                )
            }),
            select_0,
        )?;
    let async_1 = cx
        .operator(
            "open/async/1",
            "open: async",
            CallAsync::new(
                "banks_of",
                true,
                100,
                |row: types::Open2| async move {
                    let answer = in_time(
                            30000000,
                            async {
                                Ok::<
                                    _,
                                    EvalError,
                                >(
                                    crate::functions::banks_of(row.number.as_str())
                                        .await
                                        .at("banks_of(number)", "in.flow:28:87")?,
                                )
                            },
                        )
                        .await
                        .at("banks_of(number)", "in.flow:28:87");
                    (row, answer)
                },
                |row: types::Open2, answer: Vec<Str>| types::Open3 {
                    number: row.number,
                    banks_of_answer_1: answer,
                },
            ),
            explode_0,
        )?;
    let answered_0 = cx
        .operator(
            "open/answered/0",
            "open: answered",
            Project::new(|row: types::Open| Ok(types::Open2 { number: row.number })),
            async_1,
        )?;
    let where_1 = cx
        .operator(
            "open/where/1",
            "open: where",
            Filter::new(|row: &types::Open| Ok(row.is_open_answer_1)),
            answered_0,
        )?;
    let async_0 = cx
        .operator(
            "open/async/0",
            "open: async",
            CallAsync::new(
                "is_open",
                true,
                100,
                |row: types::Block| async move {
                    let answer = in_time(
                            30000000,
                            async {
                                Ok::<
                                    _,
                                    EvalError,
                                >(
                                    crate::functions::is_open(row.number.as_str())
                                        .await
                                        .at("is_open(number)", "in.flow:28:61")?,
                                )
                            },
                        )
                        .await
                        .at("is_open(number)", "in.flow:28:61");
                    (row, answer)
                },
                |row: types::Block, answer: bool| types::Open {
                    number: row.number,
                    at: row.at,
                    is_open_answer_1: answer,
                },
            ),
            where_1,
        )?;
    let where_0 = cx
        .operator(
            "open/where/0",
            "open: where",
            Filter::new(|row: &types::Block| Ok(
                row.at > Timestamp(1_767_225_600_000_000),
            )),
            async_0,
        )?;
    let to_lost = cx
        .hash::<types::Block, Str, _>(1, |row: &types::Block| Ok(row.number.clone()))?;
    let select_0_2 = cx
        .operator(
            "lost/select/0",
            "lost: select",
            Project::new(|row: types::Block| Ok(types::Block {
                at: row.at,
                number: row.number,
            })),
            to_lost,
        )?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: Some(|row: &types::Block| Ok(
            Some(arith::sub(row.at, Duration(5_000_000)).at("at - 5s", "in.flow:9:81")?),
        )),
        on_error: ErrorPolicy::Fail,
    };
    cx.source(
        "blocks/source/0",
        "blocks",
        source,
        config,
        FanOut::new(select_0_2, where_0),
    )
}

/// in.flow:9 source blocks: Block from file { path: "blocks.jsonl", format: json } watermark at - 5s
pub fn source(_params: &ParamValues) -> JobResult<FileSource<types::Block, JsonFormat>> {
    let options = Options::new()
        .with("path", "blocks.jsonl")
        .with_block("format", "json", Options::new());
    FileSource::<types::Block, JsonFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
