//! The chain `unpaid_2`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/unpaid")
        .with_block("format", "json", Options::new());
    let sink_unpaid_file = cx
        .sink(
            "sink/unpaid/file",
            "unpaid into file",
            FileSink::<types::Unpaid2, JsonFormat>::from_options(&options)?,
        )?;
    let sink_unpaid_final_0 = cx
        .operator(
            "sink/unpaid/final/0",
            "unpaid: final",
            FinalBag::new(|row: &types::Unpaid2| Ok((
                row.o,
                row.customer.clone(),
                row.paid,
            ))),
            sink_unpaid_file,
        )?;
    cx.input::<Change<types::Unpaid2>, _>(sink_unpaid_final_0)
}
