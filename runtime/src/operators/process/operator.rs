//! Runs a process over rows with a key.

use super::broadcast::WithBroadcast;
use super::of_key::OfKey;
use super::run::{Moment, Run};
use super::side::SideStage;
use super::sweep::Sweep;
use super::timers::Timers;
use super::{Process, Processing};
use crate::error::JobError;
use crate::operator::{Collector, Discard, Failure, Operator, OperatorContext, OperatorSnapshot, RestoredOperator, Stage};
use crate::state::{KeyedState, Place, Shared, Slot, State};
use crate::time::{Progress, Watermark};
use crate::value::{EvalError, Timestamp};

type StateOf<X> = <<X as Processing>::Process as Process>::State;
type OutputOf<X> = <<X as Processing>::Process as Process>::Output;
type SideOf<X> = <<X as Processing>::Process as Process>::Side;

/// At the end of the input a timer may set the next one. So many times what was there, and so many more, is no accident.
const AT_THE_END: usize = 1000;

/// A process behind an exchange by key.
pub struct KeyedProcess<X: Processing, N = Discard> {
    spec: X,
    pub(super) run: Run<X::Process>,
    keys: KeyedState<X::Key, OfKey<StateOf<X>>>,
    pub(super) event: Timers<X::Key>,
    clock: Timers<X::Key>,
    pub(super) progress: Progress,
    sweep: Sweep,
    side: SideStage<N, SideOf<X>>,
}

/// What makes a timer fire.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Event,
    Clock,
}

impl<X: Processing> KeyedProcess<X> {
    /// Runs this process; its side output, if it has any, goes nowhere.
    pub fn new(process: X::Process, spec: X) -> Self {
        KeyedProcess {
            spec,
            run: Run::new(process),
            keys: KeyedState::new("keys"),
            event: Timers::default(),
            clock: Timers::default(),
            progress: Progress::default(),
            sweep: Sweep::new(None),
            side: SideStage::new(Discard, false),
        }
    }

    /// Rows of the side output go to this stage.
    pub fn with_side<N: Stage<SideOf<X>>>(self, stage: N) -> KeyedProcess<X, N> {
        KeyedProcess {
            spec: self.spec,
            run: self.run,
            keys: self.keys,
            event: self.event,
            clock: self.clock,
            progress: self.progress,
            sweep: self.sweep,
            side: SideStage::new(stage, true),
        }
    }
}

impl<X: Processing, N: Stage<SideOf<X>>> KeyedProcess<X, N> {
    /// Forgets the state of a key so many microseconds of the clock after the last row or timer of the key. Timers stay.
    pub fn ttl(mut self, micros: i64) -> Self {
        self.run.ttl = Some(micros.max(1));
        self.sweep = Sweep::new(self.run.ttl);
        self
    }

    /// Takes rows of a second input, which come to every subtask.
    pub fn with_broadcast<B, F>(self, make: F) -> WithBroadcast<X, N, B, F>
    where
        F: Fn(B) -> Result<<X::Process as Process>::Broadcast, EvalError>,
    {
        WithBroadcast::new(self, make)
    }

    #[inline]
    pub(super) fn emit(&mut self, first: Option<OutputOf<X>>, out: &mut impl Collector<X::Out>) -> Result<(), JobError> {
        let side = &mut self.side;
        self.run.emit(first, &self.spec, out, |row| side.take(row))
    }

    /// A call without a row is over. One that failed is no end: the other timers fire nonetheless.
    fn settle(&mut self, result: Result<Option<OutputOf<X>>, Failure>, out: &mut impl Collector<X::Out>) -> Result<(), Failure> {
        match result {
            Ok(first) => Ok(self.emit(first, out)?),
            Err(Failure::Row(error)) => Ok(out.reject(error)?),
            Err(fatal) => Err(fatal),
        }
    }

    /// The stage of the side output, as one of any rows.
    pub(super) fn side_stage<T>(&self) -> Option<&dyn Stage<T>> {
        self.side.connected.then_some(&self.side as &dyn Stage<T>)
    }

    /// The same, to be driven.
    pub(super) fn side_stage_mut<T>(&mut self) -> Option<&mut dyn Stage<T>> {
        self.side.connected.then_some(&mut self.side as &mut dyn Stage<T>)
    }

    fn timers(&mut self, kind: Kind) -> &mut Timers<X::Key> {
        match kind {
            Kind::Event => &mut self.event,
            Kind::Clock => &mut self.clock,
        }
    }

    /// A timer fires, if the state of its key still has it.
    fn fire(
        &mut self,
        kind: Kind,
        (at, slot, key): (i64, Slot, X::Key),
        out: &mut impl Collector<X::Out>,
    ) -> Result<(), Failure> {
        let Place::Occupied(mut place) = self.keys.place(slot, &key)? else { return Ok(()) };
        let of_key = place.value();
        let times = if kind == Kind::Event { &mut of_key.event } else { &mut of_key.clock };
        if !times.remove(at) {
            return Ok(());
        }
        let timers = if kind == Kind::Event { &mut self.event } else { &mut self.clock };
        timers.fired();
        let moment = Moment { key: &key, watermark: self.progress.of(slot), row_time: None };
        let at = Timestamp(at);
        let result = self.run.call(of_key, moment, |process, cx| match kind {
            Kind::Event => process.on_event_timer(at, cx),
            Kind::Clock => process.on_clock_timer(at, cx),
        });
        self.event.take(&mut self.run.changes.event, slot, &key);
        self.clock.take(&mut self.run.changes.clock, slot, &key);
        if of_key.is_empty() {
            place.remove();
        }
        self.settle(result, out)
    }

    /// The queue of timers holds many that are no longer there: fills it anew.
    #[cold]
    fn tidy(&mut self, kind: Kind) -> Result<(), JobError> {
        let mut timers = Timers::default();
        for table in 0..self.keys.tables().tables() {
            self.keys.tables_mut().each(table, |slot, key, of_key| {
                let times = if kind == Kind::Event { &of_key.event } else { &of_key.clock };
                times.as_slice().iter().for_each(|at| timers.restore(*at, slot, key));
                Ok::<_, JobError>(())
            })?;
        }
        *self.timers(kind) = timers;
        Ok(())
    }

    fn tidy_if_stale(&mut self) -> Result<(), JobError> {
        for kind in [Kind::Event, Kind::Clock] {
            if self.timers(kind).is_mostly_stale() {
                self.tidy(kind)?;
            }
        }
        Ok(())
    }

    /// Whether state goes by the clock.
    fn sweeps(&self) -> bool {
        self.run.ttl.is_some() || <StateOf<X> as State>::EXPIRES
    }

    fn end(&mut self, out: &mut impl Collector<X::Out>) -> Result<(), Failure> {
        let result = self.run.call_shared(Watermark::MAX.0, |process, cx| process.on_end(cx));
        self.settle(result, out)
    }
}

impl<X: Processing, N: Stage<SideOf<X>>> Operator<X::In> for KeyedProcess<X, N> {
    type Out = X::Out;

    fn open(&mut self, context: &OperatorContext) {
        self.keys.open(context);
    }

    #[inline]
    fn process(&mut self, row: X::In, out: &mut impl Collector<X::Out>) -> Result<(), Failure> {
        let key = self.spec.key(&row)?;
        let row_time = self.spec.time(&row)?;
        let slot = self.keys.slot(&key)?;
        let row = self.spec.input(row)?;
        let moment = Moment { key: &key, watermark: self.progress.of(slot), row_time };
        let result = match self.keys.place(slot, &key)? {
            Place::Occupied(mut place) => {
                let of_key = place.value();
                let result = self.run.call(of_key, moment, |process, cx| process.process(row, cx));
                self.event.take(&mut self.run.changes.event, slot, &key);
                self.clock.take(&mut self.run.changes.clock, slot, &key);
                if of_key.is_empty() {
                    place.remove();
                }
                result
            }
            Place::Vacant(place) => {
                let mut of_key = OfKey::default();
                let result = self.run.call(&mut of_key, moment, |process, cx| process.process(row, cx));
                self.event.take(&mut self.run.changes.event, slot, &key);
                self.clock.take(&mut self.run.changes.clock, slot, &key);
                if !of_key.is_empty() {
                    place.insert(key, of_key);
                }
                result
            }
        };
        Ok(self.emit(result?, out)?)
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<X::Out>) -> Result<Option<Watermark>, Failure> {
        let before = self.progress.clone();
        if !self.progress.advance(watermark) {
            return Ok(Some(watermark));
        }
        let mut left = self.event.live().saturating_mul(AT_THE_END).saturating_add(100 * AT_THE_END);
        let mut held = Vec::new();
        while let Some((at, slot, key)) = self.event.pop(watermark.0) {
            // A key group that was further before the restore has not gone on: its timers wait until it does.
            if before.of(slot) >= watermark.0 {
                held.push((at, slot, key));
                continue;
            }
            if watermark == Watermark::MAX {
                if left == 0 {
                    return Err(Failure::Fatal(for_ever(at)));
                }
                left -= 1;
            }
            self.fire(Kind::Event, (at, slot, key), out)?;
        }
        for (at, slot, key) in held {
            self.event.put_back(at, slot, key);
        }
        if watermark == Watermark::MAX {
            self.end(out)?;
        }
        self.tidy_if_stale()?;
        Ok(Some(watermark))
    }

    fn on_processing_time(&mut self, now: i64, out: &mut impl Collector<X::Out>) -> Result<(), Failure> {
        self.run.now = now;
        // Timers that are set meanwhile wait for the next time, so that rows get their turn.
        let mut due = Vec::new();
        while let Some(timer) = self.clock.pop(now) {
            due.push(timer);
        }
        for timer in due {
            self.fire(Kind::Clock, timer, out)?;
        }
        if self.sweeps() {
            let (ttl, tables) = (self.run.ttl, self.keys.tables().tables());
            for table in self.sweep.due(now, tables) {
                self.keys.tables_mut().sweep(
                    table,
                    |of_key| of_key.is_over(now, ttl),
                    |_, of_key| {
                        of_key.expire(now, ttl);
                        of_key.is_empty()
                    },
                )?;
            }
        }
        self.tidy_if_stale()?;
        Ok(())
    }

    fn next_processing_time(&self) -> Option<i64> {
        // One that was due when the clock last came is new since: it gives rows a turn first.
        let timer = self.clock.next().map(|at| if at <= self.run.now { self.run.now.saturating_add(1000) } else { at });
        let sweep = (self.sweeps() && !self.keys.tables().is_empty()).then(|| self.sweep.next());
        timer.into_iter().chain(sweep).min()
    }

    fn finish(&mut self, _out: &mut impl Collector<X::Out>) -> Result<(), Failure> {
        self.keys.clear();
        self.event.clear();
        self.clock.clear();
        Ok(self.run.shared.each(&mut |_, state| {
            state.clear();
            Ok(())
        })?)
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.keys.snapshot(&self.progress, snapshot)?;
        self.run.shared.each(&mut |name, state| {
            state.snapshot(name, snapshot);
            Ok(())
        })
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        let (event, clock) = (&mut self.event, &mut self.clock);
        self.keys.restore(state, &mut self.progress, |slot, key, of_key| {
            of_key.event.as_slice().iter().for_each(|at| event.restore(*at, slot, key));
            of_key.clock.as_slice().iter().for_each(|at| clock.restore(*at, slot, key));
        })?;
        self.run.shared.each(&mut |name, shared| shared.restore(name, state))
    }

    fn late(&self) -> Option<&dyn Stage<X::In>> {
        self.side_stage()
    }

    fn late_mut(&mut self) -> Option<&mut dyn Stage<X::In>> {
        self.side_stage_mut()
    }
}

#[cold]
fn for_ever(at: i64) -> JobError {
    JobError::new(format!(
        "timers set each other without end: the input has ended, and one of {} still sets the next\n  do not set timers in \
         `on_event_timer` when `cx.watermark()` is `Timestamp(i64::MAX)`",
        Timestamp(at)
    ))
}
