//! The chain `beside_2`.

use millstream::codegen::*;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_beside_3 = cx
        .hash::<types::Beside2, i64, _>(2, |row: &types::Beside2| Ok(row.auction))?;
    let over_1 = cx
        .operator(
            "beside/over/1",
            "beside: over",
            Over::new(Frame::Time(3_600_000_000), BesideOver),
            to_beside_3,
        )?;
    cx.input::<types::Beside, _>(over_1)
}

/// in.flow:9 select { auction, at, mean_of_ten: avg(price) over (by auction, order by at, last 10 rows), hig…
struct BesideOver;

impl Analysis for BesideOver {
    type In = types::Beside;
    type Key = ();
    type Acc = BesideOverAcc;
    type Out = types::Beside2;
    fn key(&self, _row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok(())
    }
    fn time(&self, row: &Self::In) -> Result<Timestamp, EvalError> {
        Ok(row.at)
    }
    fn add(&self, acc: &mut Self::Acc, row: &Self::In) -> Result<(), EvalError> {
        acc.in_the_hour.add(row.bidder.clone())?;
        Ok(())
    }
    fn merge(&self, acc: &mut Self::Acc, other: &Self::Acc) -> Result<(), EvalError> {
        acc.in_the_hour.merge(&other.in_the_hour)?;
        Ok(())
    }
    fn output(&self, row: Self::In, acc: &Self::Acc) -> Result<Self::Out, EvalError> {
        let in_the_hour = acc
            .in_the_hour
            .finish()
            .required("count(distinct bidder)", "in.flow:14:22")?;
        Ok(types::Beside2 {
            auction: row.auction,
            bidder: row.bidder,
            price: row.price,
            discount: row.discount,
            at: row.at,
            avg_over_1: row.avg_over_1,
            max_over_1: row.max_over_1,
            count_over_1: in_the_hour,
        })
    }
}

#[derive(Clone, Default, State)]
pub struct BesideOverAcc {
    in_the_hour: aggregates::Distinct<aggregates::Count<Str>, Str>,
}
