//! The chain `keenest_2`.

use millstream::codegen::*;
use millstream::connectors::blackhole::BlackholeSink;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new();
    let sink_keenest_blackhole = cx
        .sink(
            "sink/keenest/blackhole",
            "keenest into blackhole",
            BlackholeSink::<Change<types::Keenest>>::from_options(&options)?,
        )?;
    let sink_keenest_key_by_0 = cx
        .operator(
            "sink/keenest/key_by/0",
            "keenest: key_by",
            Materialize::new(|row: &types::Keenest| Ok(AsKey::into_key(row.bidder))),
            sink_keenest_blackhole,
        )?;
    cx.input::<Change<types::Keenest>, _>(sink_keenest_key_by_0)
}
