//! The chain `both`.

use millstream::codegen::*;
use millstream::connectors::stdout::StdoutSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new().with_block("format", "json", Options::new());
    let sink_both_stdout = cx
        .sink(
            "sink/both/stdout",
            "both into stdout",
            StdoutSink::<types::Sink3, JsonFormat>::from_options(&options)?,
        )?;
    let sink_both_changes_0 = cx
        .operator(
            "sink/both/changes/0",
            "both: changes",
            Project::new(|change: Change<types::Both>| Ok(types::Sink3 {
                op: Str::from(change.kind.name()),
                largest: change.row.largest,
                first: change.row.first,
                all: change.row.all,
            })),
            sink_both_stdout,
        )?;
    let aggregate_0 = cx
        .operator(
            "both/aggregate/0",
            "both: aggregate",
            TableAggregate::over_changes(BothAggregate).ttl(604_800_000_000),
            sink_both_changes_0,
        )?;
    cx.input::<Change<types::Bidders>, _>(aggregate_0)
}

/// in.flow:22 aggregate { largest: max(bids), first: first(bidder), all: list(bidder) }
struct BothAggregate;

impl Aggregation for BothAggregate {
    type In = types::Bidders;
    type Key = ();
    type Acc = BothAcc;
    type Out = types::Both;
    fn key(&self, _row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok(())
    }
    fn add(&self, acc: &mut Self::Acc, row: &Self::In) -> Result<(), EvalError> {
        acc.largest.add(row.bids)?;
        acc.first.add(row.bidder)?;
        acc.all.add(row.bidder)?;
        Ok(())
    }
    fn retract(&self, acc: &mut Self::Acc, row: &Self::In) -> Result<(), EvalError> {
        acc.largest.retract(row.bids)?;
        acc.first.retract(row.bidder)?;
        acc.all.retract(row.bidder)?;
        Ok(())
    }
    fn output(
        &self,
        _key: &Self::Key,
        _window: WindowBounds,
        acc: &Self::Acc,
    ) -> Result<Self::Out, EvalError> {
        let largest = acc.largest.finish().at("max(bids)", "in.flow:22:46")?;
        let first = acc.first.finish().at("first(bidder)", "in.flow:22:64")?;
        let all = acc.all.finish().required("list(bidder)", "in.flow:22:84")?;
        Ok(types::Both {
            largest,
            first,
            all: all.clone(),
        })
    }
}

#[derive(Clone, Default, State)]
pub struct BothAcc {
    largest: aggregates::MaxOverTable<i64>,
    first: aggregates::FirstOverTable<i64>,
    all: aggregates::ListOverTable<i64>,
}
