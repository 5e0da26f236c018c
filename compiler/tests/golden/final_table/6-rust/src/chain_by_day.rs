//! The chain `by_day`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/days")
        .with_block("format", "json", Options::new());
    let sink_by_day_file = cx
        .sink(
            "sink/by_day/file",
            "by_day into file",
            FileSink::<types::Sink, JsonFormat>::from_options(&options)?,
        )?;
    let sink_by_day_select_0 = cx
        .operator(
            "sink/by_day/select/0",
            "by_day: select",
            Project::new(|row: types::ByDay| Ok(types::Sink {
                auction: row.auction,
                day: row.day,
                highest: row.highest,
                mean: row.mean,
            })),
            sink_by_day_file,
        )?;
    let aggregate_0 = cx
        .operator(
            "by_day/aggregate/0",
            "by_day: aggregate",
            FinalAggregate::new(ByDayAggregate),
            sink_by_day_select_0,
        )?;
    cx.input::<types::Bid, _>(aggregate_0)
}

/// in.flow:10 aggregate by (auction, day: date(at)) { auction, day, bids: count(), cheap: count(where pric…
struct ByDayAggregate;

impl Aggregation for ByDayAggregate {
    type In = types::Bid;
    type Key = (i64, Date);
    type Acc = ByDayAcc;
    type Out = types::ByDay;
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok((row.auction, functions::date(row.at)))
    }
    fn add(&self, acc: &mut Self::Acc, row: &Self::In) -> Result<(), EvalError> {
        acc.bids.add(())?;
        acc.sum.add(row.price)?;
        acc.highest.add(row.price)?;
        Ok(())
    }
    fn output(
        &self,
        key: &Self::Key,
        _window: WindowBounds,
        acc: &Self::Acc,
    ) -> Result<Self::Out, EvalError> {
        let bids = acc.bids.finish().required("count()", "in.flow:13:15")?;
        let sum = acc.sum.finish().required("sum(price)", "in.flow:16:15")?;
        let highest = acc.highest.finish().required("max(price)", "in.flow:17:18")?;
        Ok(types::ByDay {
            auction: key.0,
            day: key.1,
            mean: arith::div(sum, bids).at("sum(price) / count()", "in.flow:16:15")?,
            highest,
        })
    }
}

#[derive(Clone, Default, State)]
pub struct ByDayAcc {
    bids: aggregates::Count,
    sum: aggregates::Sum<i64>,
    highest: aggregates::Max<i64>,
}
