//! The chain `words_3`.
use millstream::codegen::*;
use crate::types;
/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let sink_words_file = cx
        .sink(
            "sink/words/file",
            "words into file",
            <millstream::connectors::file::FileSink<
                types::Words,
                millstream::formats::JsonFormat,
            >>::from_options(
                &Options::new()
                    .with("path", "out/words")
                    .with_block("format", "json", Options::new()),
            )?,
        )?;
    cx.input::<types::Words, _>(sink_words_file)
}
