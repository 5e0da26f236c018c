//! The chain `above`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "above")
        .with_block("format", "json", Options::new());
    let sink_above_file = cx
        .sink(
            "sink/above/file",
            "above into file",
            FileSink::<types::Payment, JsonFormat>::from_options(&options)?,
        )?;
    let process_0 = cx
        .operator(
            "above/process/0",
            "above: process",
            KeyedProcess::new(crate::items::Above, AboveProcess)
                .with_broadcast(|row: types::Limit| Ok(crate::items::Limit {
                    most: Convert::convert(row.most),
                })),
            sink_above_file,
        )?;
    cx.two_inputs::<
            types::Payment,
            types::Limit,
            _,
        >(&[Side::Left, Side::Right], process_0)
}

/// in.flow:19 process by card Above with broadcast limits
struct AboveProcess;

impl Processing for AboveProcess {
    type Process = crate::items::Above;
    type In = types::Payment;
    type Out = types::Payment;
    type Key = Str;
    #[inline]
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok(row.card.clone())
    }
    #[inline]
    fn time(&self, row: &Self::In) -> Result<Option<Timestamp>, EvalError> {
        Ok(Some(row.at))
    }
    #[inline]
    fn input(
        &self,
        row: Self::In,
    ) -> Result<<Self::Process as Process>::Input, EvalError> {
        Ok(crate::items::Payment {
            card: Convert::convert(row.card),
            amount: Convert::convert(row.amount),
            at: Convert::convert(row.at),
        })
    }
    #[inline]
    fn output(
        &self,
        row: <Self::Process as Process>::Output,
    ) -> Result<Self::Out, EvalError> {
        Ok(Convert::convert(row))
    }
}
