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
        acc.mean_of_ten.add(row.price)?;
        if row.price > 100i64 {
            acc.high.add(row.price)?;
        }
        Ok(())
    }
    fn merge(&self, acc: &mut Self::Acc, other: &Self::Acc) -> Result<(), EvalError> {
        acc.mean_of_ten.merge(&other.mean_of_ten)?;
        acc.high.merge(&other.high)?;
        Ok(())
    }
    fn output(&self, row: Self::In, acc: &Self::Acc) -> Result<Self::Out, EvalError> {
        let mean_of_ten = acc
            .mean_of_ten
            .finish()
            .required("avg(price)", "in.flow:12:22")?;
        let high = acc
            .high
            .finish()
            .at("max(price where price > 100)", "in.flow:13:15")?;
        Ok(types::Beside {
            auction: row.auction,
            bidder: row.bidder,
            price: row.price,
            discount: row.discount,
            at: row.at,
            avg_over_1: mean_of_ten,
            max_over_1: high,
        })
    }
}

#[derive(Clone, Default, State)]
pub struct BesideOverAcc {
    mean_of_ten: aggregates::Avg<i64>,
    high: aggregates::Max<i64>,
}
