//! The chain `latest`.

use millstream::codegen::*;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_unpaid = cx
        .hash::<
            Change<types::Payment>,
            (i64, Option<Str>),
            _,
        >(
            2,
            |change: &Change<types::Payment>| {
                let row = &change.row;
                Ok((row.order_id, Some(row.coupon.as_str()).map(Str::from)))
            },
        )?;
    let to_known = cx.broadcast::<Change<types::Payment>>(10)?;
    let dedup_0 = cx
        .operator(
            "latest/dedup/0",
            "latest: dedup",
            DedupTable::last(
                |row: &types::Payment| Ok(row.order_id),
                |row: &types::Payment| Ok(row.paid_at),
            ),
            FanOut::new(to_unpaid, to_known),
        )?;
    cx.input::<types::Payment, _>(dedup_0)
}
