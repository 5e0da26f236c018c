//! The chain `soon`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/late")
        .with_block("format", "json", Options::new());
    let sink_late_orders_file = cx
        .sink(
            "sink/late_orders/file",
            "late_orders into file",
            FileSink::<types::Order, JsonFormat>::from_options(&options)?,
        )?;
    let options = Options::new()
        .with("path", "out/soon")
        .with_block("format", "json", Options::new());
    let sink_soon_file = cx
        .sink(
            "sink/soon/file",
            "soon into file",
            FileSink::<types::Soon2, JsonFormat>::from_options(&options)?,
        )?;
    let select_0 = cx
        .operator(
            "soon/select/0",
            "soon: select",
            Project::new(|row: types::Soon| Ok(types::Soon2 {
                id: row.id,
                amount: row.p_amount,
                waited: arith::sub(row.paid_at, row.placed_at)
                    .at("paid_at - placed_at", "in.flow:23:38")?,
            })),
            sink_soon_file,
        )?;
    let join_0 = cx
        .operator(
            "soon/join/0",
            "soon: join",
            IntervalJoin::new(JoinKind::Inner, -60_000_000, 600_000_000, SoonJoin)
                .with_late(sink_late_orders_file),
            select_0,
        )?;
    cx.two_inputs::<types::Order, types::Payment, _>(&[Side::Left, Side::Right], join_0)
}

/// in.flow:22 join payments as p on id == p.order_id within -1m..10m late into late_orders
struct SoonJoin;

impl Joining for SoonJoin {
    type Left = types::Order;
    type Right = types::Payment;
    type Key = i64;
    type Out = types::Soon;
    fn left_key(&self, row: &Self::Left) -> Result<Self::Key, EvalError> {
        Ok(row.id)
    }
    fn left_time(&self, row: &Self::Left) -> Result<Timestamp, EvalError> {
        Ok(row.placed_at)
    }
    fn right_key(&self, row: &Self::Right) -> Result<Self::Key, EvalError> {
        Ok(row.order_id)
    }
    fn right_time(&self, row: &Self::Right) -> Result<Timestamp, EvalError> {
        Ok(row.paid_at)
    }
    fn both(
        &self,
        left: &Self::Left,
        right: &Self::Right,
        _window: WindowBounds,
    ) -> Option<Self::Out> {
        Some(types::Soon {
            id: left.id,
            placed_at: left.placed_at,
            p_amount: right.amount,
            paid_at: right.paid_at,
        })
    }
}
