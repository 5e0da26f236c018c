//! The chain `quiet_3`.

use millstream::codegen::*;
use millstream::connectors::stdout::StdoutSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new().with_block("format", "json", Options::new());
    let sink_quiet_stdout = cx
        .sink(
            "sink/quiet/stdout",
            "quiet into stdout",
            StdoutSink::<types::Loud, JsonFormat>::from_options(&options)?,
        )?;
    let sink_quiet_final_0 = cx
        .operator(
            "sink/quiet/final/0",
            "quiet: final",
            Final::new(|row: &types::Loud| Ok(AsKey::into_key(row.bidder))),
            sink_quiet_stdout,
        )?;
    let except_0 = cx
        .operator(
            "quiet/except/0",
            "quiet: except",
            CombineTable::new(
                    Rule::Except,
                    |row: &types::Quiet| Ok(row.bidder),
                    |row: &types::Quiet| row.second,
                    |row: types::Quiet| types::Loud { bidder: row.bidder },
                )
                .ttl(604_800_000_000),
            sink_quiet_final_0,
        )?;
    cx.input::<types::Quiet, _>(except_0)
}
