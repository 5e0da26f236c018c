//! The chain `all_kinds`.

use millstream::codegen::*;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_all_kinds_2 = cx
        .hash::<
            Change<types::Loud>,
            i64,
            _,
        >(
            20,
            |change: &Change<types::Loud>| {
                let row = &change.row;
                Ok(row.bidder)
            },
        )?;
    let union_0 = to_all_kinds_2;
    cx.input::<Change<types::Loud>, _>(union_0)
}
