//! The chain `per_shop_2`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out")
        .with_size("compact", 1048576)
        .with_block("format", "json", Options::new());
    let sink_per_shop_file = cx
        .sink(
            "sink/per_shop/file",
            "per_shop into file",
            FileSink::<types::PerShop, JsonFormat>::from_options(&options)?,
        )?;
    let aggregate_0 = cx
        .operator(
            "per_shop/aggregate/0",
            "per_shop: aggregate",
            WindowAggregate::new(Tumbling::new(60_000_000, 0), PerShopAggregate),
            sink_per_shop_file,
        )?;
    cx.input::<types::Order, _>(aggregate_0)
}

/// in.flow:15 aggregate by shop over tumbling(1m) { shop, start: window.start, orders: count() }
struct PerShopAggregate;

impl Aggregation for PerShopAggregate {
    type In = types::Order;
    type Key = Str;
    type Acc = PerShopAcc;
    type Out = types::PerShop;
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok(row.shop.clone())
    }
    fn time(&self, row: &Self::In) -> Result<Timestamp, EvalError> {
        Ok(row.placed_at)
    }
    fn add(&self, acc: &mut Self::Acc, _row: &Self::In) -> Result<(), EvalError> {
        acc.orders.add(())?;
        Ok(())
    }
    fn output(
        &self,
        key: &Self::Key,
        window: WindowBounds,
        acc: &Self::Acc,
    ) -> Result<Self::Out, EvalError> {
        let orders = acc.orders.finish().required("count()", "in.flow:15:116")?;
        Ok(types::PerShop {
            shop: key.clone(),
            start: window.start,
            orders,
        })
    }
}

#[derive(Clone, Default, State)]
pub struct PerShopAcc {
    orders: aggregates::Count,
}
