//! The chain `readings`.

use millstream::codegen::*;
use millstream::connectors::blackhole::BlackholeSink;
use millstream::connectors::file::FileSink;
use millstream::connectors::file::FileSource;
use millstream::connectors::stdout::StdoutSink;
use millstream::formats::CsvFormat;
use millstream::formats::JsonFormat;
use millstream::formats::TextFormat;
use millstream::http::HttpSink;
use crate::params::Params;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let params = Params::read(cx.params())?;
    let options = Options::new();
    let sink_high_blackhole = cx
        .sink(
            "sink/high/blackhole",
            "high into blackhole",
            BlackholeSink::<types::Reading>::from_options(&options)?,
        )?;
    let options = Options::new().with_block("format", "text", Options::new());
    let sink_high_stdout = cx
        .sink(
            "sink/high/stdout",
            "high into stdout",
            StdoutSink::<types::Sink, TextFormat>::from_options(&options)?,
        )?;
    let sink_high_select_0 = cx
        .operator(
            "sink/high/select/0",
            "high: select",
            Project::new(|row: types::Reading| Ok(types::Sink { sensor: row.sensor })),
            sink_high_stdout,
        )?;
    let options = Options::new()
        .with("url", params.url.as_str())
        .with("authorization", params.env_token.as_str())
        .with("batch", 500i64)
        .with_size("batch_bytes", 2097152)
        .with("flush_after", 250_000_i64)
        .with("timeout", 10_000_000_i64)
        .with_block("format", "json", Options::new());
    let sink_high_http = cx
        .sink(
            "sink/high/http",
            "high into http",
            HttpSink::<types::Reading, JsonFormat>::from_options(&options)?,
        )?;
    let options = Options::new()
        .with("path", "out")
        .with_columns("partition", &["day"])
        .with_size("compact", 134217728)
        .with("compact_every", 5i64)
        .with_block("format", "csv", Options::new());
    let sink_readings_file = cx
        .sink(
            "sink/readings/file",
            "readings into file",
            FileSink::<types::Reading, CsvFormat>::from_options(&options)?,
        )?;
    let where_0 = cx
        .operator(
            "high/where/0",
            "high: where",
            Filter::new(|row: &types::Reading| Ok(compare::gt(&row.value, &40f64))),
            FanOut::new(
                sink_high_http,
                FanOut::new(sink_high_select_0, sink_high_blackhole),
            ),
        )?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: None::<fn(&types::Reading) -> Result<Option<Timestamp>, EvalError>>,
        on_error: ErrorPolicy::Fail,
    };
    cx.source(
        "readings/source/0",
        "readings",
        source,
        config,
        FanOut::new(where_0, sink_readings_file),
    )
}

/// in.flow:8 source readings: Reading from file { path: "readings.jsonl", format: json }
pub fn source(
    _params: &ParamValues,
) -> JobResult<FileSource<types::Reading, JsonFormat>> {
    let options = Options::new()
        .with("path", "readings.jsonl")
        .with_block("format", "json", Options::new());
    FileSource::<types::Reading, JsonFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
