//! The chain `words_3`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/words")
        .with_block("format", "json", Options::new());
    let sink_words_file = cx
        .sink(
            "sink/words/file",
            "words into file",
            FileSink::<types::Words, JsonFormat>::from_options(&options)?,
        )?;
    cx.input::<types::Words, _>(sink_words_file)
}
