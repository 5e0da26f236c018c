//! The chain `orders`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::connectors::file::FileSource;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/known")
        .with_block("format", "json", Options::new());
    let sink_known_file = cx
        .sink(
            "sink/known/file",
            "known into file",
            FileSink::<types::Known, JsonFormat>::from_options(&options)?,
        )?;
    let options = Options::new()
        .with("path", "out/priced")
        .with_block("format", "json", Options::new());
    let sink_priced_file = cx
        .sink(
            "sink/priced/file",
            "priced into file",
            FileSink::<types::Priced2, JsonFormat>::from_options(&options)?,
        )?;
    let select_0 = cx
        .operator(
            "known/select/0",
            "known: select",
            Project::new(|row: types::Known| Ok(types::Known {
                id: row.id,
                rate: row.rate,
                currency: row.currency,
            })),
            sink_known_file,
        )?;
    let join_0 = cx
        .operator(
            "known/join/0",
            "known: join",
            LookupByKey::new(
                JoinKind::Inner,
                "live",
                KnownJoin,
                lookup::open(
                    "live",
                    millstream::http::HttpLookup::<
                        types::Rate,
                        millstream::formats::JsonFormat,
                    >::from_options(
                        &Options::new()
                            .with("url", "https://example.com/{currency}/{day}")
                            .with_block("format", "json", Options::new())
                            .with_columns("key", &["currency", "day"]),
                    ),
                )?,
                false,
                Some((3_600_000_000, 500)),
            ),
            select_0,
        )?;
    let select_0_2 = cx
        .operator(
            "priced/select/0",
            "priced: select",
            Project::new(|row: types::Priced| Ok(types::Priced2 {
                id: row.id,
                euros: match (Some(row.amount), row.rate) {
                    (Some(v1), Some(v2)) => Some(v1 / v2),
                    _ => None,
                },
            })),
            sink_priced_file,
        )?;
    let join_0_2 = cx
        .operator(
            "priced/join/0",
            "priced: join",
            LookupInMemory::new(
                JoinKind::Left,
                "rates",
                PricedJoin,
                lookup::open(
                    "rates",
                    millstream::lookup::FileLookup::<
                        types::Rate,
                        millstream::formats::CsvFormat,
                    >::from_options(
                        &Options::new()
                            .with("path", "rates.csv")
                            .with_block("format", "csv", Options::new()),
                    ),
                )?,
                Some(600_000_000),
            ),
            select_0_2,
        )?;
    let source = source(cx.params())?;
    let config = SourceConfig {
        watermark: Some(|row: &types::Order| Ok(
            Some(
                arith::sub(row.placed_at, Duration(5_000_000))
                    .at("placed_at - 5s", "in.flow:5:81")?,
            ),
        )),
        on_error: ErrorPolicy::Fail,
    };
    cx.source("orders/source/0", "orders", source, config, FanOut::new(join_0_2, join_0))
}

/// in.flow:16 join live as l on day == l.day and currency == l.currency
struct KnownJoin;

impl Joining for KnownJoin {
    type Left = types::Order;
    type Right = types::Rate;
    type Key = (Option<Str>, Date);
    type Out = types::Known;
    fn left_key(&self, row: &Self::Left) -> Result<Self::Key, EvalError> {
        Ok((row.currency.clone(), row.day))
    }
    fn right_key(&self, row: &Self::Right) -> Result<Self::Key, EvalError> {
        Ok((Some(row.currency.as_str()).map(Str::from), row.day))
    }
    fn can_match(&self, key: &Self::Key) -> bool {
        key.0.is_some()
    }
    fn key_texts(&self, row: &Self::Left) -> Result<Vec<Str>, EvalError> {
        Ok(
            vec![
                (row.currency.clone()).unwrap_or_default(), cast::cast:: < Str, _ > (&
                row.day).at("day", "in.flow:16:43") ?
            ],
        )
    }
    fn both(
        &self,
        left: &Self::Left,
        right: &Self::Right,
        _window: WindowBounds,
    ) -> Option<Self::Out> {
        Some(types::Known {
            id: left.id,
            currency: left.currency.clone(),
            rate: right.rate,
        })
    }
}

/// in.flow:13 left join rates as r on currency == r.currency and r.day <= day
struct PricedJoin;

impl Joining for PricedJoin {
    type Left = types::Order;
    type Right = types::Rate;
    type Key = Option<Str>;
    type Out = types::Priced;
    fn left_key(&self, row: &Self::Left) -> Result<Self::Key, EvalError> {
        Ok(row.currency.clone())
    }
    fn right_key(&self, row: &Self::Right) -> Result<Self::Key, EvalError> {
        Ok(Some(row.currency.as_str()).map(Str::from))
    }
    fn can_match(&self, key: &Self::Key) -> bool {
        key.is_some()
    }
    fn matches(
        &self,
        left: &Self::Left,
        right: &Self::Right,
    ) -> Result<bool, EvalError> {
        Ok(right.day <= left.day)
    }
    fn both(
        &self,
        left: &Self::Left,
        right: &Self::Right,
        _window: WindowBounds,
    ) -> Option<Self::Out> {
        Some(types::Priced {
            id: left.id,
            amount: left.amount,
            rate: Some(right.rate),
        })
    }
    fn left_only(&self, left: &Self::Left, _window: WindowBounds) -> Option<Self::Out> {
        Some(types::Priced {
            id: left.id,
            amount: left.amount,
            rate: None,
        })
    }
}

/// in.flow:5 source orders: Order from file { path: "orders.jsonl", format: json } watermark placed_at - 5s
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
