//! Runs a process that keeps nothing, wherever its rows are: like a `select` or an `explode`, in the chain before it.

use super::of_key::OfKey;
use super::run::{Moment, Run};
use super::side::SideStage;
use super::{Process, Processing};
use crate::operator::{Collector, Discard, Failure, Operator, Stage};
use crate::time::Watermark;

type SideOf<X> = <<X as Processing>::Process as Process>::Side;

/// A process without key, state, timers and end. What it does to the state that each call is given is forgotten behind the call.
pub struct StatelessProcess<X: Processing, N = Discard> {
    spec: X,
    run: Run<X::Process>,
    watermark: i64,
    side: SideStage<N, SideOf<X>>,
}

impl<X: Processing> StatelessProcess<X> {
    /// Runs this process; its side output, if it has any, goes nowhere.
    pub fn new(process: X::Process, spec: X) -> Self {
        let side = SideStage::new(Discard, false);
        StatelessProcess { spec, run: Run::new(process), watermark: i64::MIN, side }
    }

    /// What calls have done to timers.
    #[cfg(test)]
    pub(super) fn changes(&self) -> &super::context::Changes {
        &self.run.changes
    }

    /// Rows of the side output go to this stage.
    pub fn with_side<N: Stage<SideOf<X>>>(self, stage: N) -> StatelessProcess<X, N> {
        let side = SideStage::new(stage, true);
        StatelessProcess { spec: self.spec, run: self.run, watermark: self.watermark, side }
    }
}

impl<X: Processing, N: Stage<SideOf<X>>> Operator<X::In> for StatelessProcess<X, N> {
    type Out = X::Out;

    #[inline]
    fn process(&mut self, row: X::In, out: &mut impl Collector<X::Out>) -> Result<(), Failure> {
        let row_time = self.spec.time(&row)?;
        let row = self.spec.input(row)?;
        let mut nothing = OfKey::default();
        let moment = Moment { key: &(), watermark: self.watermark, row_time };
        let first = self.run.call(&mut nothing, moment, |process, cx| process.process(row, cx))?;
        self.run.changes.forget();
        let side = &mut self.side;
        Ok(self.run.emit(first, &self.spec, out, |row| side.take(row))?)
    }

    fn on_watermark(&mut self, watermark: Watermark, _out: &mut impl Collector<X::Out>) -> Result<Option<Watermark>, Failure> {
        self.watermark = self.watermark.max(watermark.0);
        Ok(Some(watermark))
    }

    fn on_processing_time(&mut self, now: i64, _out: &mut impl Collector<X::Out>) -> Result<(), Failure> {
        self.run.now = now;
        Ok(())
    }

    fn finish(&mut self, _out: &mut impl Collector<X::Out>) -> Result<(), Failure> {
        self.watermark = i64::MIN;
        Ok(())
    }

    fn late(&self) -> Option<&dyn Stage<X::In>> {
        self.side.connected.then_some(&self.side as &dyn Stage<X::In>)
    }

    fn late_mut(&mut self) -> Option<&mut dyn Stage<X::In>> {
        self.side.connected.then_some(&mut self.side as &mut dyn Stage<X::In>)
    }
}
