//! The chain `session`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/session")
        .with_block("format", "json", Options::new());
    let sink_session_file = cx
        .sink(
            "sink/session/file",
            "session into file",
            FileSink::<types::Session, JsonFormat>::from_options(&options)?,
        )?;
    let aggregate_0 = cx
        .operator(
            "session/aggregate/0",
            "session: aggregate",
            SessionAggregate::new(600_000_000, SessionAggregate2),
            sink_session_file,
        )?;
    cx.input::<types::Click, _>(aggregate_0)
}

/// in.flow:10 aggregate by user over session(10m) { user, start: window.start, end: window.end, clicks: co…
struct SessionAggregate2;

impl Aggregation for SessionAggregate2 {
    type In = types::Click;
    type Key = Str;
    type Acc = SessionAcc;
    type Out = types::Session;
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok(row.user.clone())
    }
    fn time(&self, row: &Self::In) -> Result<Timestamp, EvalError> {
        Ok(row.at)
    }
    fn add(&self, acc: &mut Self::Acc, _row: &Self::In) -> Result<(), EvalError> {
        acc.clicks.add(())?;
        Ok(())
    }
    fn merge(&self, acc: &mut Self::Acc, other: &Self::Acc) -> Result<(), EvalError> {
        acc.clicks.merge(&other.clicks)?;
        Ok(())
    }
    fn output(
        &self,
        key: &Self::Key,
        window: WindowBounds,
        acc: &Self::Acc,
    ) -> Result<Self::Out, EvalError> {
        let clicks = acc.clicks.finish().required("count()", "in.flow:10:117")?;
        Ok(types::Session {
            user: key.clone(),
            start: window.start,
            end: window.end,
            clicks,
        })
    }
}

#[derive(Clone, Default, State)]
pub struct SessionAcc {
    clicks: aggregates::Count,
}
