//! The chain `by_clock`.
use millstream::codegen::*;
use crate::types;
/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let sink_by_clock_file = cx
        .sink(
            "sink/by_clock/file",
            "by_clock into file",
            <millstream::connectors::file::FileSink<
                types::ByClock,
                millstream::formats::JsonFormat,
            >>::from_options(
                &Options::new()
                    .with("path", "out/by_clock")
                    .with_block("format", "json", Options::new()),
            )?,
        )?;
    let aggregate_0 = cx
        .operator::<
            types::Click,
            _,
            _,
        >(
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
        let clicks = required(acc.clicks.finish().at("count()", "in.flow:13:97")?)
            .at("count()", "in.flow:13:97")?;
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
