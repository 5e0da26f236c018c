//! The chain `rated`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/rated")
        .with_block("format", "json", Options::new());
    let sink_rated_file = cx
        .sink(
            "sink/rated/file",
            "rated into file",
            FileSink::<types::Rated2, JsonFormat>::from_options(&options)?,
        )?;
    let select_0 = cx
        .operator(
            "rated/select/0",
            "rated: select",
            Project::new(|row: types::Rated| Ok(types::Rated2 {
                id: row.id,
                value: row.rate,
            })),
            sink_rated_file,
        )?;
    let join_0 = cx
        .operator(
            "rated/join/0",
            "rated: join",
            TemporalJoin::<_, OverRows>::new(JoinKind::Left, RatedJoin),
            select_0,
        )?;
    cx.two_inputs::<types::Order, types::Rates, _>(&[Side::Left, Side::Right], join_0)
}

/// in.flow:30 left join rates as r on customer == r.customer as of placed_at
struct RatedJoin;

impl Joining for RatedJoin {
    type Left = types::Order;
    type Right = types::Rates;
    type Key = Str;
    type Out = types::Rated;
    fn left_key(&self, row: &Self::Left) -> Result<Self::Key, EvalError> {
        Ok(row.customer.clone())
    }
    fn left_time(&self, row: &Self::Left) -> Result<Timestamp, EvalError> {
        Ok(row.placed_at)
    }
    fn right_key(&self, row: &Self::Right) -> Result<Self::Key, EvalError> {
        Ok(row.customer.clone())
    }
    fn right_time(&self, row: &Self::Right) -> Result<Timestamp, EvalError> {
        Ok(row.since)
    }
    fn both(
        &self,
        left: &Self::Left,
        right: &Self::Right,
        _window: WindowBounds,
    ) -> Option<Self::Out> {
        Some(types::Rated {
            id: left.id,
            rate: Some(right.rate),
        })
    }
    fn left_only(&self, left: &Self::Left, _window: WindowBounds) -> Option<Self::Out> {
        Some(types::Rated {
            id: left.id,
            rate: None,
        })
    }
}
