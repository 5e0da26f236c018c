//! The chain `sliding`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/sliding")
        .with_block("format", "json", Options::new());
    let sink_sliding_file = cx
        .sink(
            "sink/sliding/file",
            "sliding into file",
            FileSink::<types::Sliding, JsonFormat>::from_options(&options)?,
        )?;
    let aggregate_0 = cx
        .operator(
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
        let clicks = acc.clicks.finish().required("count()", "in.flow:9:99")?;
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
