//! The chain `agree_2`.

use millstream::codegen::*;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_all_kinds = cx.forward::<Change<types::Loud>>(16)?;
    let intersect_0 = cx
        .operator(
            "agree/intersect/0",
            "agree: intersect",
            CombineTable::over_changes(
                    Rule::IntersectAll,
                    |row: &types::Quiet| Ok(row.bidder),
                    |row: &types::Quiet| row.second,
                    |row: types::Quiet| types::Loud { bidder: row.bidder },
                )
                .ttl(604_800_000_000),
            to_all_kinds,
        )?;
    cx.input::<Change<types::Quiet>, _>(intersect_0)
}
