//! The chain `keenest`.

use millstream::codegen::*;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_keenest_2 = cx
        .hash::<
            Change<types::Keenest>,
            i64,
            _,
        >(
            19,
            |change: &Change<types::Keenest>| {
                let row = &change.row;
                Ok(row.bidder)
            },
        )?;
    let top_0 = cx
        .operator(
            "keenest/top/0",
            "keenest: top",
            TopTable::over_changes(
                    Limit {
                        keeps_rest: true,
                        ..Limit::new(2)
                    },
                    |_row: &types::Bidders| Ok(()),
                    |row: &types::Bidders| Ok(Reverse(row.bids)),
                    |row: &types::Bidders, rank| types::Keenest {
                        bidder: row.bidder,
                        bids: row.bids,
                        most: row.most,
                        place: rank,
                    },
                )
                .ranked()
                .ttl(604_800_000_000),
            to_keenest_2,
        )?;
    cx.input::<Change<types::Bidders>, _>(top_0)
}
