//! The chain `quiet`.

use millstream::codegen::*;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_quiet_2 = cx.forward::<types::Quiet>(9)?;
    let side_0 = cx
        .operator(
            "quiet/side/0",
            "quiet: side",
            Project::new(|row: types::Loud| Ok(types::Quiet {
                bidder: row.bidder,
                second: false,
            })),
            to_quiet_2,
        )?;
    let distinct_0 = cx
        .operator(
            "quiet/distinct/0",
            "quiet: distinct",
            CombineRows::new(
                    Rule::Distinct,
                    |row: &types::Loud| Ok(row.bidder),
                    |_row: &types::Loud| false,
                    |row: types::Loud| row,
                )
                .ttl(604_800_000_000),
            side_0,
        )?;
    cx.input::<types::Loud, _>(distinct_0)
}
