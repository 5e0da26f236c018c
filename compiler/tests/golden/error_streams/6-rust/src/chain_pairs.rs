//! The chain `pairs`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::connectors::file::FileSource;
use millstream::formats::CsvFormat;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_bad = cx.forward::<types::FailedRow>(1)?;
    let where_0_1 = cx
        .operator(
            "bad/where/0/1",
            "bad: where",
            Filter::new(|row: &types::FailedRow| Ok(
                row.reason.as_str() != "division by zero",
            )),
            to_bad,
        )?;
    let to_bad_2 = cx.forward::<types::FailedRow>(0)?;
    let where_0_0 = cx
        .operator(
            "bad/where/0/0",
            "bad: where",
            Filter::new(|row: &types::FailedRow| Ok(
                row.reason.as_str() != "division by zero",
            )),
            to_bad_2,
        )?;
    let options = Options::new()
        .with("path", "out/divided")
        .with_block("format", "json", Options::new());
    let sink_divided_file = cx
        .sink(
            "sink/divided/file",
            "divided into file",
            FileSink::<types::Divided, JsonFormat>::from_options(&options)?,
        )?;
    let where_0 = cx
        .operator(
            "divided/where/0",
            "divided: where",
            Filter::new(|row: &types::Divided| Ok(row.quotient > 0i64)),
            sink_divided_file,
        )?;
    let errors_0 = where_0_1;
    let errors = cx
        .errors(
            "divided/select/0",
            "divided: select",
            |error: ErrorRow| types::FailedRow {
                source: error.source,
                error: error.error,
                reason: error.reason,
                origin: error.origin,
                position: error.position,
                field: error.field,
                value: error.value,
                raw: error.raw,
                raw_bytes: error.raw_bytes,
            },
            errors_0,
        )?;
    let select_0 = cx
        .operator_with_errors(
            "divided/select/0",
            "divided: select",
            Project::new(|row: types::Pair| Ok(types::Divided {
                id: row.id,
                quotient: arith::div(row.a, row.b).at("a / b", "in.flow:15:49")?,
            })),
            errors,
            where_0,
        )?;
    let errors_2 = cx
        .errors(
            "pairs/source/0",
            "pairs",
            |error: ErrorRow| types::FailedRow {
                source: error.source,
                error: error.error,
                reason: error.reason,
                origin: error.origin,
                position: error.position,
                field: error.field,
                value: error.value,
                raw: error.raw,
                raw_bytes: error.raw_bytes,
            },
            where_0_0,
        )?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: None::<fn(&types::Pair) -> Result<Option<Timestamp>, EvalError>>,
        on_error: ErrorPolicy::Into,
    };
    cx.source_with_errors(
        "pairs/source/0",
        "pairs",
        source,
        config,
        Some(errors_2),
        select_0,
    )
}

/// in.flow:13 source pairs: Pair from file { path: "pairs.csv", format: csv } on error into unread
pub fn source(_params: &ParamValues) -> JobResult<FileSource<types::Pair, CsvFormat>> {
    let options = Options::new()
        .with("path", "pairs.csv")
        .with_block("format", "csv", Options::new());
    FileSource::<types::Pair, CsvFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
