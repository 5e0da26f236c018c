//! The chain `behind`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/behind")
        .with_block("format", "json", Options::new());
    let sink_behind_file = cx
        .sink(
            "sink/behind/file",
            "behind into file",
            FileSink::<types::Behind2, JsonFormat>::from_options(&options)?,
        )?;
    let select_0 = cx
        .operator(
            "behind/select/0",
            "behind: select",
            Project::new(|row: types::Behind| Ok(types::Behind2 {
                auction: row.auction,
                next: row.lead_over_1,
                after: row.lead_over_2,
            })),
            sink_behind_file,
        )?;
    let over_0 = cx
        .operator(
            "behind/over/0",
            "behind: over",
            Over::new(Frame::Ahead(2), BehindOver),
            select_0,
        )?;
    cx.input::<types::Bid, _>(over_0)
}

/// in.flow:21 select { auction, next: lead(price) over (by auction), after: lead(discount, 2) over (by auct…
struct BehindOver;

impl Analysis for BehindOver {
    type In = types::Bid;
    type Key = i64;
    type Acc = BehindOverAcc;
    type Out = types::Behind;
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok(row.auction)
    }
    fn time(&self, row: &Self::In) -> Result<Timestamp, EvalError> {
        Ok(row.at)
    }
    fn add(&self, acc: &mut Self::Acc, row: &Self::In) -> Result<(), EvalError> {
        acc.next.add(Some(row.price))?;
        acc.after.add(row.discount)?;
        Ok(())
    }
    fn output(&self, row: Self::In, acc: &Self::Acc) -> Result<Self::Out, EvalError> {
        let next = acc.next.finish().at("lead(price)", "in.flow:21:48")?;
        let after = acc.after.finish().at("lead(discount, 2)", "in.flow:21:86")?;
        Ok(types::Behind {
            auction: row.auction,
            bidder: row.bidder,
            price: row.price,
            discount: row.discount,
            at: row.at,
            lead_over_1: next,
            lead_over_2: after,
        })
    }
}

#[derive(Clone, Default, State)]
pub struct BehindOverAcc {
    next: aggregates::Lead<i64, 1>,
    after: aggregates::Lead<Decimal<5, 2>, 2>,
}
