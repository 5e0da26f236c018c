//! The chain `days`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/days")
        .with_block("format", "json", Options::new());
    let sink_days_file = cx
        .sink(
            "sink/days/file",
            "days into file",
            FileSink::<types::Days, JsonFormat>::from_options(&options)?,
        )?;
    let aggregate_0 = cx
        .operator(
            "days/aggregate/0",
            "days: aggregate",
            WindowAggregate::new(Tumbling::new(86_400_000_000, 0), DaysAggregate),
            sink_days_file,
        )?;
    cx.input::<types::Tumbling, _>(aggregate_0)
}

/// in.flow:20 aggregate by page over tumbling(1d) { page, day: window.start, clicks: sum(clicks) }
struct DaysAggregate;

impl Aggregation for DaysAggregate {
    type In = types::Tumbling;
    type Key = Str;
    type Acc = DaysAcc;
    type Out = types::Days;
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok(row.page.clone())
    }
    fn time(&self, row: &Self::In) -> Result<Timestamp, EvalError> {
        Ok(arith::add(row.start, Duration(3_599_999_999)).at("start", "in.flow:20:44")?)
    }
    fn add(&self, acc: &mut Self::Acc, row: &Self::In) -> Result<(), EvalError> {
        acc.clicks.add(row.clicks)?;
        Ok(())
    }
    fn output(
        &self,
        key: &Self::Key,
        window: WindowBounds,
        acc: &Self::Acc,
    ) -> Result<Self::Out, EvalError> {
        let clicks = acc.clicks.finish().required("sum(clicks)", "in.flow:20:97")?;
        Ok(types::Days {
            page: key.clone(),
            day: window.start,
            clicks,
        })
    }
}

#[derive(Clone, Default, State)]
pub struct DaysAcc {
    clicks: aggregates::Sum<i64>,
}
