//! The chain `total`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/total")
        .with_block("format", "json", Options::new());
    let sink_total_file = cx
        .sink(
            "sink/total/file",
            "total into file",
            FileSink::<types::Total, JsonFormat>::from_options(&options)?,
        )?;
    let aggregate_0 = cx
        .operator(
            "total/aggregate/0",
            "total: aggregate",
            FinalAggregate::new(TotalAggregate),
            sink_total_file,
        )?;
    cx.input::<types::Words, _>(aggregate_0)
}

/// in.flow:18 aggregate { words: count() }
struct TotalAggregate;

impl Aggregation for TotalAggregate {
    type In = types::Words;
    type Key = ();
    type Acc = TotalAcc;
    type Out = types::Total;
    fn key(&self, _row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok(())
    }
    fn add(&self, acc: &mut Self::Acc, _row: &Self::In) -> Result<(), EvalError> {
        acc.words.add(())?;
        Ok(())
    }
    fn output(
        &self,
        _key: &Self::Key,
        _window: WindowBounds,
        acc: &Self::Acc,
    ) -> Result<Self::Out, EvalError> {
        let words = acc.words.finish().required("count()", "in.flow:18:43")?;
        Ok(types::Total { words })
    }
}

#[derive(Clone, Default, State)]
pub struct TotalAcc {
    words: aggregates::Count,
}
