//! The chain `per_minute`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/late")
        .with_block("format", "json", Options::new());
    let sink_late_clicks_file = cx
        .sink(
            "sink/late_clicks/file",
            "late_clicks into file",
            FileSink::<types::Click, JsonFormat>::from_options(&options)?,
        )?;
    let options = Options::new()
        .with("path", "out/minutes")
        .with_block("format", "json", Options::new());
    let sink_per_minute_file = cx
        .sink(
            "sink/per_minute/file",
            "per_minute into file",
            FileSink::<types::PerMinute, JsonFormat>::from_options(&options)?,
        )?;
    let aggregate_0 = cx
        .operator(
            "per_minute/aggregate/0",
            "per_minute: aggregate",
            WindowAggregate::new(Tumbling::new(60_000_000, 0), PerMinuteAggregate)
                .allow_late(30_000_000)
                .with_late(sink_late_clicks_file),
            sink_per_minute_file,
        )?;
    cx.input::<types::Click, _>(aggregate_0)
}

/// in.flow:10 aggregate by user over tumbling(1m) allow 30s late late into late_clicks { user, minute: windo…
struct PerMinuteAggregate;

impl Aggregation for PerMinuteAggregate {
    type In = types::Click;
    type Key = Str;
    type Acc = PerMinuteAcc;
    type Out = types::PerMinute;
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok(row.user.clone())
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
        let clicks = acc.clicks.finish().required("count()", "in.flow:13:17")?;
        Ok(types::PerMinute {
            user: key.clone(),
            minute: window.start,
            clicks,
        })
    }
}

#[derive(Clone, Default, State)]
pub struct PerMinuteAcc {
    clicks: aggregates::Count,
}
