//! The chain `beside_3`.

use millstream::codegen::*;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_beside_4 = cx
        .hash::<
            types::Beside3,
            (i64, Str),
            _,
        >(3, |row: &types::Beside3| Ok((row.auction, row.bidder.clone())))?;
    let over_2 = cx
        .operator(
            "beside/over/2",
            "beside: over",
            Over::new(Frame::Running, BesideOver),
            to_beside_4,
        )?;
    cx.input::<types::Beside2, _>(over_2)
}

/// in.flow:9 select { auction, at, mean_of_ten: avg(price) over (by auction, order by at, last 10 rows), hig…
struct BesideOver;

impl Analysis for BesideOver {
    type In = types::Beside2;
    type Key = i64;
    type Acc = BesideOverAcc;
    type Out = types::Beside3;
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok(row.auction)
    }
    fn time(&self, row: &Self::In) -> Result<Timestamp, EvalError> {
        Ok(row.at)
    }
    fn add(&self, acc: &mut Self::Acc, row: &Self::In) -> Result<(), EvalError> {
        acc.lag.add(Some(row.price))?;
        acc.number.add(())?;
        Ok(())
    }
    fn output(&self, row: Self::In, acc: &Self::Acc) -> Result<Self::Out, EvalError> {
        let lag = acc.lag.finish().at("lag(price)", "in.flow:15:24")?;
        let number = acc.number.finish().required("row_number()", "in.flow:17:17")?;
        Ok(types::Beside3 {
            auction: row.auction,
            bidder: row.bidder,
            price: row.price,
            discount: row.discount,
            at: row.at,
            avg_over_1: row.avg_over_1,
            max_over_1: row.max_over_1,
            count_over_1: row.count_over_1,
            lag_over_1: lag,
            row_number_over_1: number,
        })
    }
}

#[derive(Clone, Default, State)]
pub struct BesideOverAcc {
    lag: aggregates::Lag<i64, 1>,
    number: aggregates::Count,
}
