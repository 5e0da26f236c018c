//! The chain `bidders`.

use millstream::codegen::*;
use millstream::connectors::stdout::StdoutSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new().with_block("format", "json", Options::new());
    let sink_bidders_stdout = cx
        .sink(
            "sink/bidders/stdout",
            "bidders into stdout",
            StdoutSink::<types::Sink2, JsonFormat>::from_options(&options)?,
        )?;
    let sink_bidders_changes_0 = cx
        .operator(
            "sink/bidders/changes/0",
            "bidders: changes",
            Project::new(|change: Change<types::Bidders>| Ok(types::Sink2 {
                op: Str::from(change.kind.name()),
                bidder: change.row.bidder,
                bids: change.row.bids,
                most: change.row.most,
            })),
            sink_bidders_stdout,
        )?;
    let to_agree = cx.forward::<Change<types::Quiet>>(12)?;
    let side_0 = cx
        .operator(
            "agree/side/0",
            "agree: side",
            Project::new(|change: Change<types::Bidders>| {
                let row = change.row;
                Ok(Change {
                    kind: change.kind,
                    row: types::Quiet {
                        bidder: row.bidder,
                        second: false,
                    },
                })
            }),
            to_agree,
        )?;
    let to_keenest = cx
        .hash::<
            Change<types::Bidders>,
            (),
            _,
        >(5, |_change: &Change<types::Bidders>| Ok(()))?;
    let to_by_count = cx
        .hash::<
            Change<types::Bidders>,
            i64,
            _,
        >(
            6,
            |change: &Change<types::Bidders>| {
                let row = &change.row;
                Ok(row.bids)
            },
        )?;
    let to_both = cx
        .hash::<
            Change<types::Bidders>,
            (),
            _,
        >(7, |_change: &Change<types::Bidders>| Ok(()))?;
    let aggregate_0 = cx
        .operator(
            "bidders/aggregate/0",
            "bidders: aggregate",
            TableAggregate::new(BiddersAggregate),
            FanOut::new(
                side_0,
                FanOut::new(
                    sink_bidders_changes_0,
                    FanOut::new(to_keenest, FanOut::new(to_by_count, to_both)),
                ),
            ),
        )?;
    cx.input::<types::Bid, _>(aggregate_0)
}

/// in.flow:19 aggregate by bidder { bidder, bids: count(), most: max(price) }
struct BiddersAggregate;

impl Aggregation for BiddersAggregate {
    type In = types::Bid;
    type Key = i64;
    type Acc = BiddersAcc;
    type Out = types::Bidders;
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok(row.bidder)
    }
    fn add(&self, acc: &mut Self::Acc, row: &Self::In) -> Result<(), EvalError> {
        acc.bids.add(())?;
        acc.most.add(row.price)?;
        Ok(())
    }
    fn output(
        &self,
        key: &Self::Key,
        _window: WindowBounds,
        acc: &Self::Acc,
    ) -> Result<Self::Out, EvalError> {
        let bids = acc.bids.finish().required("count()", "in.flow:19:73")?;
        let most = acc.most.finish().required("max(price)", "in.flow:19:88")?;
        Ok(types::Bidders {
            bidder: *key,
            bids,
            most,
        })
    }
}

#[derive(Clone, Default, State)]
pub struct BiddersAcc {
    bids: aggregates::Count,
    most: aggregates::Max<f64>,
}
