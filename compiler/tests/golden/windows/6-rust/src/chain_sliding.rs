//! The chain `sliding`.
use millstream::codegen::*;
use crate::types;
/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let sink_sliding_file = cx
        .sink(
            "sink/sliding/file",
            "sliding into file",
            <millstream::connectors::file::FileSink<
                types::Sliding,
                millstream::formats::JsonFormat,
            >>::from_options(
                &Options::new()
                    .with("path", "out/sliding")
                    .with_block("format", "json", Options::new()),
            )?,
        )?;
    let aggregate_0 = cx
        .operator::<
            types::Click,
            _,
            _,
        >(
            "sliding/aggregate/0",
            "sliding: aggregate",
            WindowAggregate::new(
                Sliding::new(3_600_000_000, 300_000_000, 0),
                SlidingAggregate,
            ),
            sink_sliding_file,
        )?;
    cx.input::<types::Click, _>(aggregate_0)
}
/// in.flow:9 aggregate by page over sliding(1h, 5m) { page, end: window.end, clicks: count() }
struct SlidingAggregate;
impl Aggregation for SlidingAggregate {
    type In = types::Click;
    type Key = Str;
    type Acc = SlidingAcc;
    type Out = types::Sliding;
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
    fn merge(&self, acc: &mut Self::Acc, other: &Self::Acc) -> Result<(), EvalError> {
        acc.clicks.merge(&other.clicks)?;
        Ok(())
    }
    fn output(
        &self,
        key: &Self::Key,
        window: WindowBounds,
        acc: &Self::Acc,
    ) -> Result<Self::Out, EvalError> {
        let clicks = required(acc.clicks.finish().at("count()", "in.flow:9:99")?)
            .at("count()", "in.flow:9:99")?;
        Ok(types::Sliding {
            page: key.clone(),
            end: window.end,
            clicks,
        })
    }
}
#[derive(Clone, Default, State)]
pub struct SlidingAcc {
    clicks: aggregates::Count,
}
