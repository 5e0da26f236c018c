//! The chain `cumulative`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/cumulative")
        .with_block("format", "json", Options::new());
    let sink_cumulative_file = cx
        .sink(
            "sink/cumulative/file",
            "cumulative into file",
            FileSink::<types::Sliding, JsonFormat>::from_options(&options)?,
        )?;
    let aggregate_0 = cx
        .operator(
            "cumulative/aggregate/0",
            "cumulative: aggregate",
            WindowAggregate::new(
                Cumulative::new(86_400_000_000, 3_600_000_000, 0),
                CumulativeAggregate,
            ),
            sink_cumulative_file,
        )?;
    cx.input::<types::Click, _>(aggregate_0)
}

/// in.flow:11 aggregate by page over cumulative(1d, 1h) { page, end: window.end, clicks: count() }
struct CumulativeAggregate;

impl Aggregation for CumulativeAggregate {
    type In = types::Click;
    type Key = Str;
    type Acc = CumulativeAcc;
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
        let clicks = acc.clicks.finish().required("count()", "in.flow:11:105")?;
        Ok(types::Sliding {
            page: key.clone(),
            end: window.end,
            clicks,
        })
    }
}

#[derive(Clone, Default, State)]
pub struct CumulativeAcc {
    clicks: aggregates::Count,
}
