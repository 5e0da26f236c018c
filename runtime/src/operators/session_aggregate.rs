//! `aggregate .. over session(gap)`.
//!
//! State: key → sessions. A row joins the sessions it overlaps or touches; sessions that it connects become one, and their
//! accumulators merge. A key has one timer that counts: rows that prolong a session leave it alone, and when it rings too
//! early it is set anew.
//!
//! Lateness is judged on the merged session. A row that comes within the allowed lateness of a session that has come out
//! makes it come out once more, with the new values and bounds; the output is append-only.

use super::Aggregation;
use super::late::{Late, late_goes_out};
use super::sessions::{Session, Sessions};
use super::window_aggregate::emit;
use crate::error::JobError;
use crate::operator::{Collector, Discard, Failure, Operator, OperatorContext, OperatorSnapshot, RestoredOperator, Stage};
use crate::state::{KeyedState, Place};
use crate::time::{DueQueue, Progress, TimeDomain, Watermark};
use crate::value::EvalError;

/// Aggregates the rows of each key in sessions: windows that end when a gap without rows has passed.
pub struct SessionAggregate<A: Aggregation, L = Discard> {
    aggregation: A,
    gap: i64,
    domain: TimeDomain,
    allowed_lateness: i64,
    late: Late<L>,
    state: KeyedState<A::Key, Sessions<A::Acc>>,
    timers: DueQueue<A::Key>,
    progress: Progress,
}

impl<A: Aggregation> SessionAggregate<A> {
    /// Over event time; sessions end `gap` microseconds after their last row.
    pub fn new(gap: i64, aggregation: A) -> Self {
        SessionAggregate {
            aggregation,
            gap: gap.max(1),
            domain: TimeDomain::Event,
            allowed_lateness: 0,
            late: Late::counted(),
            state: KeyedState::new("sessions"),
            timers: DueQueue::default(),
            progress: Progress::default(),
        }
    }

    /// Rows that come too late go to `late` instead of a counter.
    pub fn with_late<L: Stage<A::In>>(self, late: L) -> SessionAggregate<A, L> {
        SessionAggregate {
            aggregation: self.aggregation,
            gap: self.gap,
            domain: self.domain,
            allowed_lateness: self.allowed_lateness,
            late: Late::to(late),
            state: self.state,
            timers: self.timers,
            progress: self.progress,
        }
    }
}

impl<A: Aggregation, L> SessionAggregate<A, L> {
    /// Over the clock instead of event time. Open sessions come out at the end of the input.
    pub fn in_processing_time(mut self) -> Self {
        self.domain = TimeDomain::Processing(None);
        self
    }

    /// Sessions take rows for this many microseconds of event time after they are over.
    pub fn allow_late(mut self, micros: i64) -> Self {
        self.allowed_lateness = micros.max(0);
        self
    }

    fn advance(&mut self, to: Watermark, out: &mut impl Collector<A::Out>) -> Result<(), JobError> {
        while let Some((at, slot, key)) = self.timers.pop(to.0) {
            let Place::Occupied(mut place) = self.state.place(slot, &key)? else { continue };
            let sessions = place.value();
            if sessions.timer != at {
                continue;
            }
            for session in sessions.iter_mut().filter(|session| !session.fired && session.bounds().last() <= to.0) {
                session.fired = true;
                emit(&self.aggregation, &key, session.bounds(), &session.acc, out)?;
            }
            let lateness = self.allowed_lateness;
            if sessions.retain(|session| session.forgotten(lateness) > to.0) {
                sessions.timer = sessions.due(lateness);
                let timer = sessions.timer;
                self.timers.push(timer, slot, key);
            } else {
                place.remove();
            }
        }
        self.progress.advance(to);
        Ok(())
    }
}

/// What became of a row.
enum Joined {
    /// It is in the session with this number.
    Session(usize),
    /// All its sessions are past.
    Late,
}

/// Adds a row to the sessions of its key, whatever they are. Leaves them as they were if something fails.
fn join<A: Aggregation>(
    aggregation: &A,
    sessions: &mut Sessions<A::Acc>,
    row: &A::In,
    (mut start, mut end): (i64, i64),
    watermark: i64,
    allowed_lateness: i64,
) -> Result<Joined, EvalError> {
    let index = sessions.iter().take_while(|session| session.start < start && !session.touches(start, end)).count();
    let mut count = 0;
    let mut merged: Option<A::Acc> = None;
    for session in sessions.iter().skip(index).take_while(|session| session.touches(start, end)) {
        count += 1;
        match &mut merged {
            None => merged = Some(session.acc.clone()),
            Some(acc) => aggregation.merge(acc, &session.acc)?,
        }
    }
    for session in sessions.iter().skip(index).take(count) {
        start = start.min(session.start);
        end = end.max(session.end);
    }
    let last = end.saturating_sub(1);
    if last.saturating_add(allowed_lateness) <= watermark {
        return Ok(Joined::Late);
    }
    let mut acc = merged.unwrap_or_default();
    aggregation.add(&mut acc, row)?;
    sessions.replace(index, count, Session { start, end, fired: last <= watermark, acc });
    Ok(Joined::Session(index))
}

impl<A: Aggregation, L: Stage<A::In>> Operator<A::In> for SessionAggregate<A, L> {
    type Out = A::Out;

    fn open(&mut self, context: &OperatorContext) {
        self.state.open(context);
    }

    #[inline]
    fn process(&mut self, row: A::In, out: &mut impl Collector<A::Out>) -> Result<(), Failure> {
        let key = self.aggregation.key(&row)?;
        let slot = self.state.slot(&key)?;
        let watermark = self.progress.of(slot);
        let start = match self.domain.clock()? {
            None => self.aggregation.time(&row)?.0,
            // After a restore the clock may be behind that of the last run.
            Some(now) => now.max(watermark.saturating_add(1)),
        };
        let end = start.saturating_add(self.gap);
        match self.state.place(slot, &key)? {
            Place::Occupied(mut place) => {
                let sessions = place.value();
                let first = &mut sessions.first;
                if sessions.rest.is_empty() && !first.fired && first.touches(start, end) {
                    self.aggregation.add(&mut first.acc, &row)?;
                    first.start = first.start.min(start);
                    first.end = first.end.max(end);
                    return Ok(());
                }
                match join(&self.aggregation, sessions, &row, (start, end), watermark, self.allowed_lateness)? {
                    Joined::Late => self.late.push(row)?,
                    Joined::Session(index) => {
                        if let Some(session) = sessions.iter().nth(index).filter(|session| session.fired) {
                            emit(&self.aggregation, &key, session.bounds(), &session.acc, out)?;
                        }
                        let due = sessions.due(self.allowed_lateness);
                        if due < sessions.timer {
                            sessions.timer = due;
                            self.timers.push(due, slot, key);
                        }
                    }
                }
            }
            Place::Vacant(place) => {
                let last = end.saturating_sub(1);
                if last.saturating_add(self.allowed_lateness) <= watermark {
                    return Ok(self.late.push(row)?);
                }
                let mut acc = A::Acc::default();
                self.aggregation.add(&mut acc, &row)?;
                let session = Session { start, end, fired: last <= watermark, acc };
                if session.fired {
                    emit(&self.aggregation, &key, session.bounds(), &session.acc, out)?;
                }
                let due = session.due(self.allowed_lateness);
                place.insert(key.clone(), Sessions::new(session, due));
                self.timers.push(due, slot, key);
            }
        }
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<A::Out>) -> Result<Option<Watermark>, Failure> {
        if !self.domain.is_processing() || watermark == Watermark::MAX {
            self.advance(watermark, out)?;
        }
        Ok(Some(watermark))
    }

    fn on_processing_time(&mut self, now: i64, out: &mut impl Collector<A::Out>) -> Result<(), Failure> {
        if self.domain.tick(now) {
            self.advance(Watermark(now.saturating_sub(1)), out)?;
        }
        Ok(())
    }

    fn next_processing_time(&self) -> Option<i64> {
        if self.domain.is_processing() { self.timers.next().map(|at| at.saturating_add(1)) } else { None }
    }

    fn finish(&mut self, _out: &mut impl Collector<A::Out>) -> Result<(), Failure> {
        if self.domain.is_processing() {
            self.progress = Progress::default();
        }
        Ok(())
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.state.snapshot(&self.progress, snapshot)?;
        Ok(())
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        let (timers, lateness) = (&mut self.timers, self.allowed_lateness);
        self.state.restore(state, &mut self.progress, |slot, key, sessions| {
            sessions.timer = sessions.due(lateness);
            timers.push(sessions.timer, slot, key.clone());
        })
    }

    late_goes_out!(A::In);
}
