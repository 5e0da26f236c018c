//! The chain `words`.

use millstream::codegen::*;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_words_2 = cx.forward::<types::Words>(1)?;
    let explode_0 = cx
        .operator(
            "words/explode/0",
            "words: explode",
            Explode::new(|row: types::Line| {
                let list = functions::regex_split(
                    functions::lower(row.line.as_str()).as_str(),
                    &crate::patterns::PATTERN_1,
                );
                Ok(
                    list
                        .into_iter()
                        .map(move |item| types::Words {
                            line: row.line.clone(),
                            word: item,
                        }),
                )
            }),
            to_words_2,
        )?;
    cx.input::<types::Line, _>(explode_0)
}
