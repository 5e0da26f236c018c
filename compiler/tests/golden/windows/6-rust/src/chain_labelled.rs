//! The chain `labelled`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/labelled")
        .with_block("format", "json", Options::new());
    let sink_labelled_file = cx
        .sink(
            "sink/labelled/file",
            "labelled into file",
            FileSink::<types::Labelled2, JsonFormat>::from_options(&options)?,
        )?;
    let aggregate_0 = cx
        .operator(
            "labelled/aggregate/0",
            "labelled: aggregate",
            WindowAggregate::new(
                Calendar::new(CalendarUnit::Month, "Europe/Berlin")?,
                LabelledAggregate,
            ),
            sink_labelled_file,
        )?;
    cx.input::<types::Labelled, _>(aggregate_0)
}

/// in.flow:17 aggregate by (key: label.key) over calendar(month, zone: "Europe/Berlin") { key, from: wind…
struct LabelledAggregate;

impl Aggregation for LabelledAggregate {
    type In = types::Labelled;
    type Key = Str;
    type Acc = LabelledAcc;
    type Out = types::Labelled2;
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok(row.label.key.clone())
    }
    fn time(&self, row: &Self::In) -> Result<Timestamp, EvalError> {
        Ok(row.at)
    }
    fn add(&self, acc: &mut Self::Acc, row: &Self::In) -> Result<(), EvalError> {
        acc.total.add(row.label.value)?;
        Ok(())
    }
    fn output(
        &self,
        key: &Self::Key,
        window: WindowBounds,
        acc: &Self::Acc,
    ) -> Result<Self::Out, EvalError> {
        let total = acc.total.finish().required("sum(label.value)", "in.flow:17:115")?;
        Ok(types::Labelled2 {
            key: key.clone(),
            from: window.start,
            total,
        })
    }
}

#[derive(Clone, Default, State)]
pub struct LabelledAcc {
    total: aggregates::Sum<i64>,
}
