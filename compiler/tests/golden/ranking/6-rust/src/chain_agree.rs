//! The chain `agree`.

use millstream::codegen::*;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_agree_2 = cx
        .hash::<
            Change<types::Quiet>,
            i64,
            _,
        >(
            14,
            |change: &Change<types::Quiet>| {
                let row = &change.row;
                Ok(row.bidder)
            },
        )?;
    let intersect_sides_0 = to_agree_2;
    cx.input::<Change<types::Quiet>, _>(intersect_sides_0)
}
