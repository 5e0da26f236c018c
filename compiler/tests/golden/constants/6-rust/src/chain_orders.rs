//! The chain `orders`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use crate::params::Params;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let params = Params::read(cx.params())?;
    let options = Options::new()
        .with("path", "out")
        .with_block("format", "json", Options::new());
    let sink_shown_file = cx
        .sink(
            "sink/shown/file",
            "shown into file",
            FileSink::<types::Shown, JsonFormat>::from_options(&options)?,
        )?;
    let select_0 = cx
        .operator(
            "shown/select/0",
            "shown: select",
            Project::new(|row: types::Order| Ok(types::Shown {
                id: row.id,
                minutes: 1440i64,
                overflow: arith::add(i64::from(row.quantity), 4_000_000_000_i64)
                    .at("quantity + 2_000_000_000 * 2", "in.flow:30:19")?,
                note: Str::from(
                    match row.note.as_deref() {
                        Some(v1) => v1,
                        None => "none",
                    },
                ),
                long: Str::from("a"),
                size: Str::from(
                    match row.quantity {
                        0i32 => "none",
                        1i32 | 2i32 => "few",
                        _ => "many",
                    },
                ),
                euros: crate::functions::euros(row.price)
                    .at("euros(price)", "in.flow:34:16")?,
                first: list_get(row.tags.as_slice(), 0i64)
                    .map(|v2| v2.as_str())
                    .map(Str::from),
                text: concat_text(&[&row.id, &": ", &row.quantity, &" at ", &row.price]),
                due: arith::add(row.placed_at, Duration(5_400_000_000))
                    .at("placed_at + 1h30m", "in.flow:37:14")?,
            })),
            sink_shown_file,
        )?;
    let where_0 = cx
        .operator(
            "shown/where/0",
            "shown: where",
            Filter::new({
                let params = params.clone();
                move |row: &types::Order| Ok(row.placed_at >= params.since)
            }),
            select_0,
        )?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: None::<fn(&types::Order) -> Result<Option<Timestamp>, EvalError>>,
        on_error: ErrorPolicy::Fail,
    };
    cx.source("orders/source/0", "orders", source, config, where_0)
}

/// in.flow:22 source orders: Order from file { path: "orders.jsonl", format: json }
pub fn source(_params: &ParamValues) -> JobResult<FileSource<types::Order, JsonFormat>> {
    let options = Options::new()
        .with("path", "orders.jsonl")
        .with_block("format", "json", Options::new());
    FileSource::<types::Order, JsonFormat>::from_options(&options)
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
