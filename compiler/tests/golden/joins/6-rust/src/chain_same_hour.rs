//! The chain `same_hour`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "out/hour")
        .with_block("format", "json", Options::new());
    let sink_same_hour_file = cx
        .sink(
            "sink/same_hour/file",
            "same_hour into file",
            FileSink::<types::SameHour2, JsonFormat>::from_options(&options)?,
        )?;
    let select_0 = cx
        .operator(
            "same_hour/select/0",
            "same_hour: select",
            Project::new(|row: types::SameHour| Ok(types::SameHour2 {
                id: row.id,
                start: row.window_start,
            })),
            sink_same_hour_file,
        )?;
    let join_0 = cx
        .operator(
            "same_hour/join/0",
            "same_hour: join",
            WindowJoin::new(
                JoinKind::Semi,
                Sliding::new(3_600_000_000, 1_800_000_000, 0),
                SameHourJoin,
            ),
            select_0,
        )?;
    cx.two_inputs::<types::Order, types::Payment, _>(&[Side::Left, Side::Right], join_0)
}

/// in.flow:27 semi join payments as p on id == p.order_id over sliding(1h, 30m)
struct SameHourJoin;

impl Joining for SameHourJoin {
    type Left = types::Order;
    type Right = types::Payment;
    type Key = i64;
    type Out = types::SameHour;
    fn left_key(&self, row: &Self::Left) -> Result<Self::Key, EvalError> {
        Ok(row.id)
    }
    fn left_time(&self, row: &Self::Left) -> Result<Timestamp, EvalError> {
        Ok(row.placed_at)
    }
    fn right_key(&self, row: &Self::Right) -> Result<Self::Key, EvalError> {
        Ok(row.order_id)
    }
    fn right_time(&self, row: &Self::Right) -> Result<Timestamp, EvalError> {
        Ok(row.paid_at)
    }
    fn left_only(&self, left: &Self::Left, window: WindowBounds) -> Option<Self::Out> {
        Some(types::SameHour {
            id: left.id,
            window_start: window.start,
        })
    }
}
