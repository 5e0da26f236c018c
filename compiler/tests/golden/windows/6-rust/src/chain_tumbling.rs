//! The chain `tumbling`.

use millstream::codegen::*;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    cx.in_flight::<types::Tumbling>(7);
    let to_days = cx
        .hash::<
            types::Tumbling,
            Str,
            _,
        >(7, |row: &types::Tumbling| Ok(row.page.clone()))?;
    let aggregate_0 = cx
        .operator(
            "tumbling/aggregate/0",
            "tumbling: aggregate",
            WindowAggregate::new(
                Tumbling::new(3_600_000_000, 900_000_000),
                TumblingAggregate,
            ),
            to_days,
        )?;
    cx.input::<types::Click, _>(aggregate_0)
}

/// in.flow:8 aggregate by page over tumbling(1h, offset: 15m) { page, start: window.start, clicks: count(…
struct TumblingAggregate;

impl Aggregation for TumblingAggregate {
    type In = types::Click;
    type Key = Str;
    type Acc = TumblingAcc;
    type Out = types::Tumbling;
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok(row.page.clone())
    }
    fn time(&self, row: &Self::In) -> Result<Timestamp, EvalError> {
        Ok(row.at)
    }
    fn add(&self, acc: &mut Self::Acc, _row: &Self::In) -> Result<(), EvalError> {
        acc.clicks.add(())?;
        Ok(())
    }
    fn output(
        &self,
        key: &Self::Key,
        window: WindowBounds,
        acc: &Self::Acc,
    ) -> Result<Self::Out, EvalError> {
        let clicks = acc.clicks.finish().required("count()", "in.flow:8:114")?;
        Ok(types::Tumbling {
            page: key.clone(),
            start: window.start,
            clicks,
        })
    }
}

#[derive(Clone, Default, State)]
pub struct TumblingAcc {
    clicks: aggregates::Count,
}
