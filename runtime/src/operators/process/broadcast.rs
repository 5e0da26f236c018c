//! A process with a second input, whose rows come to every subtask.

use std::marker::PhantomData;

use super::{KeyedProcess, Process, Processing};
use crate::error::JobError;
use crate::operator::{
    Collector, Either, Failure, Operator, OperatorContext, OperatorReport, OperatorSnapshot, RestoredOperator, Stage,
};
use crate::time::Watermark;
use crate::value::EvalError;

/// Rows with a key on the left, rows for all on the right.
pub struct WithBroadcast<X: Processing, N, B, F> {
    keyed: KeyedProcess<X, N>,
    make: F,
    rows: PhantomData<fn(B)>,
}

impl<X: Processing, N, B, F> WithBroadcast<X, N, B, F> {
    pub(super) fn new(keyed: KeyedProcess<X, N>, make: F) -> Self {
        WithBroadcast { keyed, make, rows: PhantomData }
    }
}

impl<X, N, B, F> Operator<Either<X::In, B>> for WithBroadcast<X, N, B, F>
where
    X: Processing,
    N: Stage<<X::Process as Process>::Side>,
    F: Fn(B) -> Result<<X::Process as Process>::Broadcast, EvalError> + Send,
{
    type Out = X::Out;

    fn open(&mut self, context: &OperatorContext) {
        self.keyed.open(context);
    }

    #[inline]
    fn process(&mut self, row: Either<X::In, B>, out: &mut impl Collector<X::Out>) -> Result<(), Failure> {
        match row {
            Either::Left(row) => self.keyed.process(row, out),
            Either::Right(row) => {
                let row = (self.make)(row)?;
                let watermark = self.keyed.progress.watermark();
                let first = self.keyed.run.call_shared(watermark, |process, cx| process.on_broadcast(row, cx))?;
                Ok(self.keyed.emit(first, out)?)
            }
        }
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<X::Out>) -> Result<Option<Watermark>, Failure> {
        self.keyed.on_watermark(watermark, out)
    }

    fn on_processing_time(&mut self, now: i64, out: &mut impl Collector<X::Out>) -> Result<(), Failure> {
        self.keyed.on_processing_time(now, out)
    }

    fn next_processing_time(&self) -> Option<i64> {
        self.keyed.next_processing_time()
    }

    fn finish(&mut self, out: &mut impl Collector<X::Out>) -> Result<(), Failure> {
        self.keyed.finish(out)
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.keyed.snapshot(snapshot)
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        self.keyed.restore(state)
    }

    fn late(&self) -> Option<&dyn Stage<Either<X::In, B>>> {
        self.keyed.side_stage()
    }

    fn late_mut(&mut self) -> Option<&mut dyn Stage<Either<X::In, B>>> {
        self.keyed.side_stage_mut()
    }

    fn report(&self, report: &mut OperatorReport) {
        self.keyed.report(report);
    }
}
