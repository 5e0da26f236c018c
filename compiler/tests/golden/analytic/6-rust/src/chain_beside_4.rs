//! The chain `beside_4`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/beside")
        .with_block("format", "json", Options::new());
    let sink_beside_file = cx
        .sink(
            "sink/beside/file",
            "beside into file",
            FileSink::<types::Beside5, JsonFormat>::from_options(&options)?,
        )?;
    let sink_beside_where_0 = cx
        .operator(
            "sink/beside/where/0",
            "beside: where",
            Filter::new(|row: &types::Beside5| Ok(row.number > 1i64)),
            sink_beside_file,
        )?;
    let select_0 = cx
        .operator(
            "beside/select/0",
            "beside: select",
            Project::new(|row: types::Beside4| Ok(types::Beside5 {
                auction: row.auction,
                at: row.at,
                mean_of_ten: row.avg_over_1,
                high: row.max_over_1,
                in_the_hour: row.count_over_1,
                step: arith::sub(
                        row.price,
                        match row.lag_over_1 {
                            Some(v1) => v1,
                            None => row.price,
                        },
                    )
                    .at(
                        "price - (lag(price) over (by auction) ?? price)",
                        "in.flow:15:15",
                    )?,
                discounts: row.sum_over_1,
                number: row.row_number_over_1,
                same: row.lag_over_1,
            })),
            sink_beside_where_0,
        )?;
    let over_3 = cx
        .operator(
            "beside/over/3",
            "beside: over",
            Over::new(Frame::All, BesideOver),
            select_0,
        )?;
    cx.input::<types::Beside3, _>(over_3)
}

/// in.flow:9 select { auction, at, mean_of_ten: avg(price) over (by auction, order by at, last 10 rows), hig…
struct BesideOver;

impl Analysis for BesideOver {
    type In = types::Beside3;
    type Key = (i64, Str);
    type Acc = BesideOverAcc;
    type Out = types::Beside4;
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok((row.auction, row.bidder.clone()))
    }
    fn time(&self, row: &Self::In) -> Result<Timestamp, EvalError> {
        Ok(row.at)
    }
    fn add(&self, acc: &mut Self::Acc, row: &Self::In) -> Result<(), EvalError> {
        if let Some(value) = row.discount {
            acc.discounts.add(value)?;
        }
        Ok(())
    }
    fn output(&self, row: Self::In, acc: &Self::Acc) -> Result<Self::Out, EvalError> {
        let discounts = acc.discounts.finish().at("sum(discount)", "in.flow:16:20")?;
        Ok(types::Beside4 {
            auction: row.auction,
            bidder: row.bidder,
            price: row.price,
            discount: row.discount,
            at: row.at,
            avg_over_1: row.avg_over_1,
            max_over_1: row.max_over_1,
            count_over_1: row.count_over_1,
            lag_over_1: row.lag_over_1,
            row_number_over_1: row.row_number_over_1,
            sum_over_1: discounts,
        })
    }
}

#[derive(Clone, Default, State)]
pub struct BesideOverAcc {
    discounts: aggregates::Sum<Decimal<5, 2>>,
}
