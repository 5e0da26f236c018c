//! The chain `readings`.

use millstream::codegen::*;
use millstream::connectors::file::FileSource;
use millstream::formats::CsvFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_all = cx.forward::<types::Reading>(0)?;
    let where_0_0 = cx
        .operator(
            "moved/where/0/0",
            "moved: where",
            Filter::new(|row: &types::Reading| Ok(
                compare::gt(&row.value, &20f64) && row.sensor.as_str() != "broken",
            )),
            to_all,
        )?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: None::<fn(&types::Reading) -> Result<Option<Timestamp>, EvalError>>,
        on_error: ErrorPolicy::Fail,
    };
    cx.source("readings/source/0", "readings", source, config, where_0_0)
}

/// in.flow:6 source readings: Reading from file { path: "readings/*.csv", format: csv { header: false } }
pub fn source(
    _params: &ParamValues,
) -> JobResult<FileSource<types::Reading, CsvFormat>> {
    let options = Options::new()
        .with("path", "readings/*.csv")
        .with_block(
            "format",
            "csv",
            Options::new()
                .with("header", false)
                .with_columns("columns", &["sensor", "value", "count", "at"]),
        );
    FileSource::<types::Reading, CsvFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
