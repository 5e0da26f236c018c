//! The chain `per_shop`.

use millstream::codegen::*;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_per_shop_2 = cx
        .hash::<types::Order, Str, _>(2, |row: &types::Order| Ok(row.shop.clone()))?;
    let union_0 = to_per_shop_2;
    cx.input::<types::Order, _>(union_0)
}
