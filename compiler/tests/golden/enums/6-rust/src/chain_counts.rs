//! The chain `counts`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::CsvFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out")
        .with_block("format", "csv", Options::new());
    let sink_counts_file = cx
        .sink(
            "sink/counts/file",
            "counts into file",
            FileSink::<types::Counts2, CsvFormat>::from_options(&options)?,
        )?;
    let aggregate_0 = cx
        .operator(
            "counts/aggregate/0",
            "counts: aggregate",
            FinalAggregate::new(CountsAggregate),
            sink_counts_file,
        )?;
    cx.input::<types::Counts, _>(aggregate_0)
}

/// in.flow:25 aggregate by (status, known) { status, known, n: count(), highest: max(code) }
struct CountsAggregate;

impl Aggregation for CountsAggregate {
    type In = types::Counts;
    type Key = (types::Status, bool);
    type Acc = CountsAcc;
    type Out = types::Counts2;
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok((row.status, row.known))
    }
    fn add(&self, acc: &mut Self::Acc, row: &Self::In) -> Result<(), EvalError> {
        acc.n.add(())?;
        acc.highest.add(row.code)?;
        Ok(())
    }
    fn output(
        &self,
        key: &Self::Key,
        _window: WindowBounds,
        acc: &Self::Acc,
    ) -> Result<Self::Out, EvalError> {
        let n = acc.n.finish().required("count()", "in.flow:25:56")?;
        let highest = acc.highest.finish().required("max(code)", "in.flow:25:74")?;
        Ok(types::Counts2 {
            status: key.0,
            known: key.1,
            n,
            highest,
        })
    }
}

#[derive(Clone, Default, State)]
pub struct CountsAcc {
    n: aggregates::Count,
    highest: aggregates::Max<i64>,
}
