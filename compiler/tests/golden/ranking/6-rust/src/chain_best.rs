//! The chain `best`.

use millstream::codegen::*;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_best_2 = cx
        .hash::<
            Change<types::Best>,
            (i64, i64),
            _,
        >(
            17,
            |change: &Change<types::Best>| {
                let row = &change.row;
                Ok((row.auction, row.rank))
            },
        )?;
    let top_0 = cx
        .operator(
            "best/top/0",
            "best: top",
            Upserts::new(
                TopTable::new(
                        Limit::new(3),
                        |row: &types::Bid| Ok(row.auction),
                        |row: &types::Bid| Ok((
                            Reverse(AsKey::into_key(row.price)),
                            row.at,
                        )),
                        |row: &types::Bid, rank| types::Best {
                            auction: row.auction,
                            bidder: row.bidder,
                            price: row.price,
                            channel: row.channel.clone(),
                            at: row.at,
                            rank,
                        },
                    )
                    .ranked()
                    .ttl(604_800_000_000),
            ),
            to_best_2,
        )?;
    cx.input::<types::Bid, _>(top_0)
}
