//! The chain `orders`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::connectors::file::FileSource;
use millstream::connectors::generator::GeneratorSource;
use millstream::formats::CsvFormat;
use millstream::formats::JsonFormat;
use crate::params::Params;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out")
        .with_block("format", "json", Options::new());
    let sink_orders_file = cx
        .sink(
            "sink/orders/file",
            "orders into file",
            FileSink::<types::Sink, JsonFormat>::from_options(&options)?,
        )?;
    let sink_orders_select_0 = cx
        .operator(
            "sink/orders/select/0",
            "orders: select",
            Project::new(|row: types::Order| Ok(types::Sink {
                id: row.id,
                amount: row.amount,
            })),
            sink_orders_file,
        )?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: Some(|row: &types::Order| Ok(
            Some(
                arith::sub(row.placed_at, Duration(10_000_000))
                    .at("placed_at - 10s", "in.flow:14:13")?,
            ),
        )),
        on_error: ErrorPolicy::Fail,
    };
    cx.source("orders/source/0", "orders", source, config, sink_orders_select_0)
}

/// What later stages ask of the rows of earlier ones: the greatest values.
#[derive(Clone, Default, State)]
pub struct StageEnds {
    id: Option<i64>,
    placed_at: Option<Timestamp>,
}

impl Summary<types::Order> for StageEnds {
    fn observe(&mut self, row: &types::Order) -> JobResult<()> {
        raise(&mut self.id, &row.id);
        raise(&mut self.placed_at, &row.placed_at);
        Ok(())
    }
    fn merge(&mut self, other: &Self) {
        raise_to(&mut self.id, other.id.as_ref());
        raise_to(&mut self.placed_at, other.placed_at.as_ref());
    }
}

/// in.flow:11 history = file { path: "old/*.csv", format: csv { header: false }, until: @2026-02-01 }
fn stage_history(
    _params: &ParamValues,
    _ends: &Switch<StageEnds>,
) -> JobResult<impl Source<Row = types::Order> + use<>> {
    let options = Options::new()
        .with("path", "old/*.csv")
        .with("until", 1_769_904_000_000_000_i64)
        .with_block(
            "format",
            "csv",
            Options::new()
                .with("header", false)
                .with_columns(
                    "columns",
                    &["id", "customer", "amount", "placed_at", "note"],
                ),
        );
    let source = FileSource::<types::Order, CsvFormat>::from_options(&options)?;
    Between::from_options(source, |row: &types::Order| Some(row.placed_at), &options)
}

/// in.flow:12 recent = file { path: $RECENT, since: history.max(placed_at) - lag }
fn stage_recent(
    params: &ParamValues,
    ends: &Switch<StageEnds>,
) -> JobResult<impl Source<Row = types::Order> + use<>> {
    let params = Params::read(params)?;
    let options = Options::new()
        .with("path", params.env_recent.as_str())
        .with_some(
            "since",
            match ends.of("history")?.summary.placed_at {
                Some(v1) => {
                    Some(
                        arith::sub(v1, params.lag)
                            .at("history.max(placed_at) - lag", "in.flow:12:43")?,
                    )
                }
                None => None,
            }
                .map(|value| value.0),
        )
        .with_block("format", "json", Options::new());
    let source = FileSource::<types::Order, JsonFormat>::from_options(&options)?;
    Between::from_options(source, |row: &types::Order| Some(row.placed_at), &options)
}

/// in.flow:13 live = generator { rate: 10, seed: recent.max(id) + 1, start: recent.end_time, since: history…
fn stage_live(
    _params: &ParamValues,
    ends: &Switch<StageEnds>,
) -> JobResult<impl Source<Row = types::Order> + use<>> {
    let options = Options::new()
        .with("rate", 10i64)
        .with_some(
            "seed",
            match (ends.of("recent")?.summary.id, Some(1i64)) {
                (Some(v1), Some(v2)) => {
                    Some(arith::add(v1, v2).at("recent.max(id) + 1", "in.flow:13:40")?)
                }
                _ => None,
            },
        )
        .with("start", ends.of("recent")?.end_time.0)
        .with(
            "since",
            match ends.of("history")?.summary.placed_at {
                Some(v3) => v3,
                None => Timestamp(1_767_225_600_000_000),
            }
                .0,
        );
    let source = GeneratorSource::<types::Order>::from_options(&options)?;
    Between::from_options(source, |row: &types::Order| Some(row.placed_at), &options)
}

/// in.flow:10 source orders: Order from hybrid { history = file { path: "old/*.csv", format: csv { header: fal…
pub fn source(
    params: &ParamValues,
) -> JobResult<impl Source<Row = types::Order> + use<>> {
    Ok(
        Hybrid::of::<types::Order, StageEnds>()
            .stage(
                "history",
                {
                    let params = params.clone();
                    move |ends: &Switch<StageEnds>| stage_history(&params, ends)
                },
            )
            .stage(
                "recent",
                {
                    let params = params.clone();
                    move |ends: &Switch<StageEnds>| stage_recent(&params, ends)
                },
            )
            .stage(
                "live",
                {
                    let params = params.clone();
                    move |ends: &Switch<StageEnds>| stage_live(&params, ends)
                },
            )
            .unbounded(),
    )
}

/// The same, for the coordinator.
pub fn source_erased(params: &ParamValues) -> JobResult<Box<dyn ErasedSource>> {
    Ok(erase_source(source(params)?))
}
