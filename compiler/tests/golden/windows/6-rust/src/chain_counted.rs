//! The chain `counted`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/counted")
        .with_block("format", "json", Options::new());
    let sink_counted_file = cx
        .sink(
            "sink/counted/file",
            "counted into file",
            FileSink::<types::Counted, JsonFormat>::from_options(&options)?,
        )?;
    let aggregate_0 = cx
        .operator(
            "counted/aggregate/0",
            "counted: aggregate",
            CountWindow::new(100u64, CountedAggregate),
            sink_counted_file,
        )?;
    cx.input::<types::Click, _>(aggregate_0)
}

/// in.flow:12 aggregate by user over count(100) { user, clicks: count(), last: max(at) }
struct CountedAggregate;

impl Aggregation for CountedAggregate {
    type In = types::Click;
    type Key = Str;
    type Acc = CountedAcc;
    type Out = types::Counted;
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok(row.user.clone())
    }
    fn add(&self, acc: &mut Self::Acc, row: &Self::In) -> Result<(), EvalError> {
        acc.clicks.add(())?;
        acc.last.add(row.at)?;
        Ok(())
    }
    fn output(
        &self,
        key: &Self::Key,
        _window: WindowBounds,
        acc: &Self::Acc,
    ) -> Result<Self::Out, EvalError> {
        let clicks = acc.clicks.finish().required("count()", "in.flow:12:77")?;
        let last = acc.last.finish().required("max(at)", "in.flow:12:92")?;
        Ok(types::Counted {
            user: key.clone(),
            clicks,
            last,
        })
    }
}

#[derive(Clone, Default, State)]
pub struct CountedAcc {
    clicks: aggregates::Count,
    last: aggregates::Max<Timestamp>,
}
