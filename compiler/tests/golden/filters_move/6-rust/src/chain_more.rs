//! The chain `more`.

use millstream::codegen::*;
use millstream::connectors::file::FileSource;
use millstream::formats::CsvFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_all = cx.forward::<types::Reading>(1)?;
    let where_0_1 = cx
        .operator(
            "moved/where/0/1",
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
    cx.source("more/source/0", "more", source, config, where_0_1)
}

/// in.flow:7 source more: Reading from file { path: "more/*.csv", format: csv }
pub fn source(
    _params: &ParamValues,
) -> JobResult<FileSource<types::Reading, CsvFormat>> {
    let options = Options::new()
        .with("path", "more/*.csv")
        .with_block("format", "csv", Options::new());
    FileSource::<types::Reading, CsvFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
