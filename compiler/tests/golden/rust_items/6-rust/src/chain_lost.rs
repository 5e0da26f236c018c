//! The chain `lost`.

use millstream::codegen::*;
use millstream::connectors::file::FileSink;
use millstream::formats::JsonFormat;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let options = Options::new()
        .with("path", "lost")
        .with_block("format", "json", Options::new());
    let sink_lost_file = cx
        .sink(
            "sink/lost/file",
            "lost into file",
            FileSink::<types::Payment, JsonFormat>::from_options(&options)?,
        )?;
    let process_0 = cx
        .operator(
            "lost/process/0",
            "lost: process",
            KeyedProcess::new(crate::items::Lost, LostProcess),
            sink_lost_file,
        )?;
    cx.two_inputs::<
            types::Payment,
            types::Block,
            _,
        >(&[Side::Left, Side::Right], process_0)
}

/// in.flow:16 process by card Lost with blocks by number
struct LostProcess;

impl Processing for LostProcess {
    type Process = crate::items::Lost;
    type In = Either<types::Payment, types::Block>;
    type Out = types::Payment;
    type Key = Str;
    #[inline]
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError> {
        Ok(
            match row {
                Either::Left(row) => row.card.clone(),
                Either::Right(row) => row.number.clone(),
            },
        )
    }
    #[inline]
    fn time(&self, row: &Self::In) -> Result<Option<Timestamp>, EvalError> {
        Ok(
            match row {
                Either::Left(row) => Some(row.at),
                Either::Right(row) => Some(row.at),
            },
        )
    }
    #[inline]
    fn input(
        &self,
        row: Self::In,
    ) -> Result<<Self::Process as Process>::Input, EvalError> {
        Ok(
            match row {
                Either::Left(row) => {
                    crate::items::Event::Payment(crate::items::Payment {
                        card: Convert::convert(row.card),
                        amount: Convert::convert(row.amount),
                        at: Convert::convert(row.at),
                    })
                }
                Either::Right(row) => {
                    crate::items::Event::Block(crate::items::Block {
                        number: Convert::convert(row.number),
                        at: Convert::convert(row.at),
                    })
                }
            },
        )
    }
    #[inline]
    fn output(
        &self,
        row: <Self::Process as Process>::Output,
    ) -> Result<Self::Out, EvalError> {
        Ok(Convert::convert(row))
    }
}
