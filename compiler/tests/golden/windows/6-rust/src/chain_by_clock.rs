//! The chain `by_clock`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/by_clock")
        .with_block("format", "json", Options::new());
    let sink_by_clock_file = cx
        .sink(
            "sink/by_clock/file",
            "by_clock into file",
            FileSink::<types::ByClock, JsonFormat>::from_options(&options)?,
        )?;
    let aggregate_0 = cx
        .operator(
            "by_clock/aggregate/0",
            "by_clock: aggregate",
            WindowAggregate::new(Tumbling::new(10_000_000, 0), ByClockAggregate)
                .in_processing_time(),
            sink_by_clock_file,
        )?;
    cx.input::<types::Click, _>(aggregate_0)
}

/// in.flow:13 aggregate by user over tumbling(10s) processing_time { user, clicks: count() }
struct ByClockAggregate;

impl Aggregation for ByClockAggregate {
    type In = types::Click;
    type Key = Str;
    type Acc = ByClockAcc;
    type Out = types::ByClock;
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok(row.user.clone())
    }
    fn add(&self, acc: &mut Self::Acc, _row: &Self::In) -> Result<(), EvalError> {
        acc.clicks.add(())?;
        Ok(())
    }
    fn output(
        &self,
        key: &Self::Key,
        _window: WindowBounds,
        acc: &Self::Acc,
    ) -> Result<Self::Out, EvalError> {
        let clicks = acc.clicks.finish().required("count()", "in.flow:13:97")?;
        Ok(types::ByClock {
            user: key.clone(),
            clicks,
        })
    }
}

#[derive(Clone, Default, State)]
pub struct ByClockAcc {
    clicks: aggregates::Count,
}
