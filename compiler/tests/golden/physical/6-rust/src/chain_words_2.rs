//! The chain `words_2`.

use millstream::codegen::*;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_total = cx.hash::<types::Words, (), _>(2, |_row: &types::Words| Ok(()))?;
    let to_words_3 = cx.forward::<types::Words>(3)?;
    let where_0 = cx
        .operator(
            "words/where/0",
            "words: where",
            Filter::new(|row: &types::Words| Ok(row.word.as_str() != "")),
            FanOut::new(to_total, to_words_3),
        )?;
    cx.input::<types::Words, _>(where_0)
}
