//! `aggregate .. over tumbling | sliding | cumulative | global every d`: windows that show what they have so far.
//!
//! Whenever time passes a multiple of `every`, and when a window is over, the groups of it that have changed since come out:
//! a table, in which a new value replaces the one before it. A row that comes within the allowed lateness of a window that is
//! over replaces the value at once. State: window → key group → key → accumulator, and that of what has been shown.

use std::collections::BTreeMap;

use super::Aggregation;
use super::late::{Late, late_goes_out};
use super::tables_by_time;
use crate::error::JobError;
use crate::operator::{Collector, Discard, Failure, Operator, OperatorContext, OperatorSnapshot, RestoredOperator, Stage};
use crate::record::{Change, ChangeKind};
use crate::state::{KeyHasher, KeyedTables, Place, State};
use crate::time::{Progress, TimeDomain, Watermark, WindowAssigner, WindowBounds};

const STATE: &str = "early windows";

/// The rows of a group so far, what it has shown, and whether rows have come since.
type Shown<Acc> = (Acc, Option<Acc>, bool);

/// Aggregates the rows of each key in windows over time, and shows early results.
pub struct EarlyAggregate<A: Aggregation, W, L = Discard> {
    aggregation: A,
    assigner: W,
    every: i64,
    domain: TimeDomain,
    allowed_lateness: i64,
    late: Late<L>,
    hasher: KeyHasher,
    /// By end and start.
    windows: BTreeMap<(i64, i64), KeyedTables<A::Key, Shown<A::Acc>>>,
    progress: Progress,
}

impl<A: Aggregation, W: WindowAssigner> EarlyAggregate<A, W> {
    /// Over event time, with results whenever so many microseconds have passed.
    pub fn new(assigner: W, aggregation: A, every: i64) -> Self {
        EarlyAggregate {
            aggregation,
            assigner,
            every: every.max(1),
            domain: TimeDomain::Event,
            allowed_lateness: 0,
            late: Late::counted(),
            hasher: KeyHasher::default(),
            windows: BTreeMap::new(),
            progress: Progress::default(),
        }
    }

    /// Rows that come too late go to `late` instead of a counter.
    pub fn with_late<L: Stage<A::In>>(self, late: L) -> EarlyAggregate<A, W, L> {
        EarlyAggregate {
            aggregation: self.aggregation,
            assigner: self.assigner,
            every: self.every,
            domain: self.domain,
            allowed_lateness: self.allowed_lateness,
            late: Late::to(late),
            hasher: self.hasher,
            windows: self.windows,
            progress: self.progress,
        }
    }
}

impl<A: Aggregation, W: WindowAssigner, L> EarlyAggregate<A, W, L> {
    /// Over the clock instead of event time.
    pub fn in_processing_time(mut self) -> Self {
        self.domain = TimeDomain::Processing(None);
        self
    }

    /// Windows take rows for this many microseconds of event time after they are over.
    pub fn allow_late(mut self, micros: i64) -> Self {
        self.allowed_lateness = micros.max(0);
        self
    }

    fn advance(&mut self, to: Watermark, out: &mut impl Collector<Change<A::Out>>) -> Result<(), JobError>
    where
        A::Out: PartialEq,
    {
        if to.0 <= self.progress.watermark() {
            return Ok(());
        }
        // Mostly nothing is to be shown yet.
        let passed = ticks(to.0, self.every);
        let is_tick = passed > ticks(self.progress.watermark(), self.every);
        for ((end, start), tables) in &mut self.windows {
            let window = WindowBounds::new(*start, *end);
            if !is_tick && window.last() > to.0 {
                break;
            }
            for table in 0..tables.tables() {
                // After a restore the key group may have been further than the others.
                let before = self.progress.of_table(table);
                let shows = window.last() <= to.0 || passed > ticks(before, self.every);
                if !shows || window.last() <= before {
                    continue;
                }
                let aggregation = &self.aggregation;
                tables.change(table, |(_, _, changed)| *changed, |key, shown| show(aggregation, key, window, shown, out))?;
            }
        }
        self.progress.advance(to);
        while let Some(((end, _), _)) = self.windows.first_key_value() {
            if end.saturating_sub(1).saturating_add(self.allowed_lateness) > to.0 {
                break;
            }
            self.windows.pop_first();
        }
        Ok(())
    }

    fn schema(&self) -> String {
        let entries = format!("map<{},{}>", A::Key::schema(), <Shown<A::Acc>>::schema());
        format!("{}{{watermark:int64,windows:list<((int64,int64),{entries})>}}", self.assigner.describe())
    }
}

/// How many multiples of `every` have been passed at this watermark.
fn ticks(watermark: i64, every: i64) -> i64 {
    watermark.saturating_add(1).div_euclid(every)
}

/// Shows what a group has now, in the place of what it showed before.
fn show<A: Aggregation>(
    aggregation: &A,
    key: &A::Key,
    window: WindowBounds,
    (acc, shown, changed): &mut Shown<A::Acc>,
    out: &mut impl Collector<Change<A::Out>>,
) -> Result<(), JobError>
where
    A::Out: PartialEq,
{
    *changed = false;
    let now = match aggregation.output(key, window, acc) {
        Ok(row) => row,
        Err(error) => return out.reject(error),
    };
    // What has been shown has a value.
    let before = shown.as_ref().and_then(|shown| aggregation.output(key, window, shown).ok());
    *shown = Some(acc.clone());
    match before {
        None => out.emit(Change::insert(now)),
        Some(before) if before == now => Ok(()),
        Some(before) => {
            out.emit(Change { kind: ChangeKind::UpdateBefore, row: before })?;
            out.emit(Change { kind: ChangeKind::UpdateAfter, row: now })
        }
    }
}

impl<A: Aggregation, W: WindowAssigner, L: Stage<A::In>> Operator<A::In> for EarlyAggregate<A, W, L>
where
    A::Out: PartialEq,
{
    type Out = Change<A::Out>;

    fn open(&mut self, context: &OperatorContext) {
        self.hasher = KeyHasher::new(context);
    }

    fn process(&mut self, row: A::In, out: &mut impl Collector<Change<A::Out>>) -> Result<(), Failure> {
        let key = self.aggregation.key(&row)?;
        let slot = self.hasher.slot(&key)?;
        let watermark = self.progress.of(slot);
        let time = match self.domain.clock()? {
            None => self.aggregation.time(&row)?.0,
            // After a restore the clock may be behind that of the last run.
            Some(now) => now.max(watermark.saturating_add(1)),
        };
        let pane = self.assigner.pane(time).start.0;
        let (mut after, mut is_late) = (i64::MIN, false);
        while let Some(window) = self.assigner.next_window(pane, after) {
            after = window.end.0;
            if window.last().saturating_add(self.allowed_lateness) <= watermark {
                is_late = true;
                continue;
            }
            is_late = false;
            let hasher = &self.hasher;
            let tables = self.windows.entry((window.end.0, window.start.0)).or_insert_with(|| KeyedTables::new(hasher));
            let shown = match tables.place(slot, &key)? {
                Place::Occupied(place) => place.into_value(),
                Place::Vacant(place) => place.insert(key.clone(), (A::Acc::default(), None, false)),
            };
            self.aggregation.add(&mut shown.0, &row)?;
            shown.2 = true;
            if window.last() <= watermark {
                show(&self.aggregation, &key, window, shown, out)?;
            }
        }
        if is_late {
            self.late.push(row)?;
        }
        Ok(())
    }

    fn on_watermark(
        &mut self,
        watermark: Watermark,
        out: &mut impl Collector<Change<A::Out>>,
    ) -> Result<Option<Watermark>, Failure> {
        if !self.domain.is_processing() || watermark == Watermark::MAX {
            self.advance(watermark, out)?;
        }
        Ok(Some(watermark))
    }

    fn on_processing_time(&mut self, now: i64, out: &mut impl Collector<Change<A::Out>>) -> Result<(), Failure> {
        if self.domain.tick(now) {
            self.advance(Watermark(now.saturating_sub(1)), out)?;
        }
        Ok(())
    }

    fn next_processing_time(&self) -> Option<i64> {
        let first = self.windows.first_key_value().map(|((end, _), _)| *end).filter(|_| self.domain.is_processing())?;
        let tick = ticks(self.progress.watermark(), self.every).saturating_add(1).saturating_mul(self.every);
        Some(first.min(tick))
    }

    fn finish(&mut self, _out: &mut impl Collector<Change<A::Out>>) -> Result<(), Failure> {
        self.windows.clear();
        if self.domain.is_processing() {
            self.progress = Progress::default();
        }
        Ok(())
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        let state = (STATE, self.schema());
        tables_by_time::snapshot(state, &self.hasher, &self.progress, &mut self.windows, snapshot)
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        let of = (STATE, self.schema());
        tables_by_time::restore(of, &mut self.hasher, &mut self.progress, &mut self.windows, state)
    }

    late_goes_out!(A::In);
}
