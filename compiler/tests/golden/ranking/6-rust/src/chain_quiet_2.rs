//! The chain `quiet_2`.

use millstream::codegen::*;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_quiet_3 = cx
        .hash::<types::Quiet, i64, _>(11, |row: &types::Quiet| Ok(row.bidder))?;
    let except_sides_0 = to_quiet_3;
    cx.input::<types::Quiet, _>(except_sides_0)
}
