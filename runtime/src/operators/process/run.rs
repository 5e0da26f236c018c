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

    /// A call for a key. Gives the first row that it emits; the others are in `outputs`.
    #[inline]
    pub fn call(
        &mut self,
        of_key: &mut OfKey<P::State>,
        moment: Moment<'_>,
        call: impl FnOnce(&mut P, &mut Context<'_, P>) -> Result<(), Failure>,
    ) -> Result<Option<P::Output>, Failure> {
        if self.ttl.is_some_and(|ttl| of_key.touched.saturating_add(ttl) <= self.now) {
            of_key.state = None;
        }
        of_key.touched = self.now;
        let rest = SharedContext {
            shared: &mut self.shared,
            first: None,
            outputs: &mut self.outputs,
            watermark: moment.watermark,
            now: self.now,
            everywhere: Everywhere(()),
        };
        let mut cx = Context { of_key, changes: &mut self.changes, rest, row_time: moment.row_time, key: moment.key };
        let result = call(&mut self.process, &mut cx);
        let first = cx.rest.first;
        self.settle(result, first)
    }

    /// A call for no key.
    pub fn call_shared(
        &mut self,
        watermark: i64,
        call: impl FnOnce(&mut P, &mut SharedContext<'_, P>) -> Result<(), Failure>,
    ) -> Result<Option<P::Output>, Failure> {
        let mut cx = SharedContext {
            shared: &mut self.shared,
            first: None,
            outputs: &mut self.outputs,
            watermark,
            now: self.now,
            everywhere: Everywhere(()),
        };
        let result = call(&mut self.process, &mut cx);
        let first = cx.first;
        self.settle(result, first)
    }

    /// What a call that failed has emitted goes nowhere.
    #[inline]
    fn settle(&mut self, result: Result<(), Failure>, first: Option<P::Output>) -> Result<Option<P::Output>, Failure> {
        match result {
            Ok(()) => Ok(first),
            Err(failure) => {
                self.outputs.rows.clear();
                self.outputs.sides.clear();
                Err(failure)
            }
        }
    }

    /// Sends on what a call has emitted.
    #[inline]
    pub fn emit<X>(
        &mut self,
        first: Option<P::Output>,
        spec: &X,
        out: &mut impl Collector<X::Out>,
        mut side: impl FnMut(P::Side) -> Result<(), JobError>,
    ) -> Result<(), JobError>
    where
        X: Processing<Process = P>,
    {
        let mut send = |row| match spec.output(row) {
            Ok(row) => out.emit(row),
            Err(error) => out.reject(error),
        };
        if let Some(first) = first {
            send(first)?;
            if !self.outputs.rows.is_empty() {
                self.outputs.rows.drain(..).try_for_each(send)?;
            }
        }
        match self.outputs.sides.is_empty() {
            true => Ok(()),
            false => self.outputs.sides.drain(..).try_for_each(&mut side),
        }
    }
}
