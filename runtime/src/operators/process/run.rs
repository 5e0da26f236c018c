//! Calls the user's code with what it may see.

use super::context::{Changes, Context, Outputs, SharedContext, ShowKey};
use super::of_key::OfKey;
use super::{Process, Processing};
use crate::error::JobError;
use crate::operator::{Collector, Failure};
use crate::state::Everywhere;
use crate::value::Timestamp;

/// The user's process, and all of it that knows nothing of keys.
pub(super) struct Run<P: Process> {
    pub process: P,
    pub shared: P::Shared,
    pub outputs: Outputs<P>,
    pub changes: Changes,
    /// The clock.
    pub now: i64,
    /// State of a key goes so many microseconds of the clock after the last call for it.
    pub ttl: Option<i64>,
}

/// Where and when a call happens.
pub(super) struct Moment<'a> {
    pub key: &'a dyn ShowKey,
    pub watermark: i64,
    pub row_time: Option<Timestamp>,
}

impl<P: Process> Run<P> {
    pub fn new(process: P) -> Self {
        Run { process, shared: P::Shared::default(), outputs: Outputs::default(), changes: Changes::default(), now: 0, ttl: None }
    }

    /// A call for a key.
    #[inline]
    pub fn call(
        &mut self,
        of_key: &mut OfKey<P::State>,
        moment: Moment<'_>,
        call: impl FnOnce(&mut P, &mut Context<'_, P>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.ttl.is_some_and(|ttl| of_key.touched.saturating_add(ttl) <= self.now) {
            of_key.state = None;
        }
        of_key.touched = self.now;
        let rest = SharedContext {
            shared: &mut self.shared,
            outputs: &mut self.outputs,
            watermark: moment.watermark,
            now: self.now,
            everywhere: Everywhere(()),
        };
        let mut cx = Context { of_key, changes: &mut self.changes, rest, row_time: moment.row_time, key: moment.key };
        let result = call(&mut self.process, &mut cx);
        self.settle(result)
    }

    /// A call for no key.
    pub fn call_shared(
        &mut self,
        watermark: i64,
        call: impl FnOnce(&mut P, &mut SharedContext<'_, P>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut cx = SharedContext {
            shared: &mut self.shared,
            outputs: &mut self.outputs,
            watermark,
            now: self.now,
            everywhere: Everywhere(()),
        };
        let result = call(&mut self.process, &mut cx);
        self.settle(result)
    }

    /// What a call that failed has emitted goes nowhere.
    #[inline]
    fn settle(&mut self, result: Result<(), Failure>) -> Result<(), Failure> {
        if result.is_err() {
            self.outputs.rows.clear();
            self.outputs.sides.clear();
        }
        result
    }

    /// Sends on what calls have emitted.
    #[inline]
    pub fn emit<X>(
        &mut self,
        spec: &X,
        out: &mut impl Collector<X::Out>,
        mut side: impl FnMut(P::Side) -> Result<(), JobError>,
    ) -> Result<(), JobError>
    where
        X: Processing<Process = P>,
    {
        for row in self.outputs.rows.drain(..) {
            match spec.output(row) {
                Ok(row) => out.emit(row)?,
                Err(error) => out.reject(error)?,
            }
        }
        self.outputs.sides.drain(..).try_for_each(&mut side)
    }
}
