//! The chain `beside`.

use millstream::codegen::*;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_beside_2 = cx.hash::<types::Beside, (), _>(1, |_row: &types::Beside| Ok(()))?;
    let over_0 = cx
        .operator(
            "beside/over/0",
            "beside: over",
            Over::new(Frame::Rows(10), BesideOver),
            to_beside_2,
        )?;
    cx.input::<types::Bid, _>(over_0)
}

/// in.flow:9 select { auction, at, mean_of_ten: avg(price) over (by auction, order by at, last 10 rows), hig…
struct BesideOver;

impl Analysis for BesideOver {
    type In = types::Bid;
    type Key = i64;
    type Acc = BesideOverAcc;
    type Out = types::Beside;
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok(row.auction)
    }
    fn time(&self, row: &Self::In) -> Result<Timestamp, EvalError> {
        Ok(row.at)
    }
    fn add(&self, acc: &mut Self::Acc, row: &Self::In) -> Result<(), EvalError> {
        acc.avg.add(row.price)?;
        if row.price > 100i64 {
            acc.max.add(row.price)?;
        }
        Ok(())
    }
    fn merge(&self, acc: &mut Self::Acc, other: &Self::Acc) -> Result<(), EvalError> {
        acc.avg.merge(&other.avg)?;
        acc.max.merge(&other.max)?;
        Ok(())
    }
    fn output(&self, row: Self::In, acc: &Self::Acc) -> Result<Self::Out, EvalError> {
        let avg = acc.avg.finish().required("avg(price)", "in.flow:12:22")?;
        let max = acc.max.finish().at("max(price where price > 100)", "in.flow:13:15")?;
        Ok(types::Beside {
            auction: row.auction,
            bidder: row.bidder,
            price: row.price,
            discount: row.discount,
            at: row.at,
            avg_over_1: avg,
            max_over_1: max,
        })
    }
}

#[derive(Clone, Default, State)]
pub struct BesideOverAcc {
    avg: aggregates::Avg<i64>,
    max: aggregates::Max<i64>,
}
