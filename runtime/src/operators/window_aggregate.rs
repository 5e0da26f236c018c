//! `aggregate .. over tumbling | sliding | cumulative | global`.
//!
//! State: pane → key group → key → accumulator. A window that is over takes whole tables; there are no timers per key.
//! Windows that overlap share panes: a row is added to one pane, and a window merges its panes when it is over.
//!
//! Lateness: a row is late if the last window of its pane is over for longer than the allowed lateness. Late rows go to the
//! late stage or are counted. A row that comes within the allowed lateness of a window that is over makes that window's
//! row for its key come out once more at once, with the new values: the output is append-only, so the later row does not
//! replace the earlier one.

use std::collections::BTreeMap;

use super::Aggregation;
use super::late::{Late, late_goes_out};
use super::tables_by_time;
use crate::error::JobError;
use crate::operator::{Collector, Discard, Failure, Operator, OperatorContext, OperatorSnapshot, RestoredOperator, Stage};
use crate::state::{KeyHasher, KeyedTables, Place, Slot, State};
use crate::time::{Progress, TimeDomain, Watermark, WindowAssigner, WindowBounds};

const STATE: &str = "windows";

/// Aggregates the rows of each key in windows over time.
pub struct WindowAggregate<A: Aggregation, W, L = Discard> {
    aggregation: A,
    assigner: W,
    domain: TimeDomain,
    allowed_lateness: i64,
    late: Late<L>,
    hasher: KeyHasher,
    panes: BTreeMap<i64, KeyedTables<A::Key, A::Acc>>,
    current: Pane,
    progress: Progress,
    /// Every window that ends by then has come out.
    fired: i64,
    /// The watermark at which the next window is over.
    due: i64,
}

/// The pane of the last row: mostly that of the next row, too.
#[derive(Clone, Copy, Debug)]
struct Pane {
    bounds: WindowBounds,
    /// At this watermark its rows are late. None: it is in no window.
    expires: Option<i64>,
    /// At this watermark its first window is over.
    first_over: i64,
}

impl<A: Aggregation, W: WindowAssigner> WindowAggregate<A, W> {
    /// Over event time; rows for windows that are over are late.
    pub fn new(assigner: W, aggregation: A) -> Self {
        let hasher = KeyHasher::default();
        WindowAggregate {
            aggregation,
            assigner,
            domain: TimeDomain::Event,
            allowed_lateness: 0,
            late: Late::counted(),
            hasher,
            panes: BTreeMap::new(),
            current: Pane { bounds: WindowBounds::new(0, 0), expires: None, first_over: i64::MAX },
            progress: Progress::default(),
            fired: i64::MIN,
            due: i64::MAX,
        }
    }

    /// Rows that come too late go to `late` instead of a counter.
    pub fn with_late<L: Stage<A::In>>(self, late: L) -> WindowAggregate<A, W, L> {
        WindowAggregate {
            aggregation: self.aggregation,
            assigner: self.assigner,
            domain: self.domain,
            allowed_lateness: self.allowed_lateness,
            late: Late::to(late),
            hasher: self.hasher,
            panes: self.panes,
            current: self.current,
            progress: self.progress,
            fired: self.fired,
            due: self.due,
        }
    }
}

impl<A: Aggregation, W: WindowAssigner, L> WindowAggregate<A, W, L> {
    /// Over the clock instead of event time. Open windows come out at the end of the input.
    pub fn in_processing_time(mut self) -> Self {
        self.domain = TimeDomain::Processing(None);
        self
    }

    /// Windows take rows for this many microseconds of event time after they are over.
    pub fn allow_late(mut self, micros: i64) -> Self {
        self.allowed_lateness = micros.max(0);
        self
    }

    /// Makes the pane of this time the current one.
    fn turn_to(&mut self, time: i64) {
        let bounds = self.assigner.pane(time);
        let start = bounds.start.0;
        let last_end = self.assigner.last_end(start);
        self.current = Pane {
            bounds,
            expires: last_end.map(|end| end.saturating_sub(1).saturating_add(self.allowed_lateness)),
            first_over: self.assigner.next_window(start, i64::MIN).map_or(i64::MAX, WindowBounds::last),
        };
    }

    #[cold]
    fn open_pane(&mut self, start: i64) {
        self.panes.insert(start, KeyedTables::new(&self.hasher));
        if let Some(window) = self.assigner.next_window(start, self.fired) {
            self.due = self.due.min(window.last());
        }
    }

    /// The first window that has rows and has not come out.
    fn next_window(&self) -> Option<WindowBounds> {
        self.panes.keys().find_map(|pane| self.assigner.next_window(*pane, self.fired))
    }

    /// Time has come to `to`: windows that are over come out, panes of which nothing is needed any more go.
    fn advance(&mut self, to: Watermark, out: &mut impl Collector<A::Out>) -> Result<(), JobError> {
        if to.0 <= self.progress.watermark() {
            return Ok(());
        }
        if self.due <= to.0 {
            while let Some(window) = self.next_window().filter(|window| window.last() <= to.0) {
                self.fire(window, out)?;
                self.fired = window.end.0;
            }
        }
        self.progress.advance(to);
        self.fired = self.fired.max(to.0.saturating_add(1));
        while let Some((pane, _)) = self.panes.first_key_value() {
            let last = self.assigner.last_end(*pane).unwrap_or(i64::MIN).saturating_sub(1);
            if last.saturating_add(self.allowed_lateness) > to.0 {
                break;
            }
            self.panes.pop_first();
        }
        self.due = self.next_window().map_or(i64::MAX, WindowBounds::last);
        Ok(())
    }

    fn fire(&mut self, window: WindowBounds, out: &mut impl Collector<A::Out>) -> Result<(), JobError> {
        let WindowAggregate { aggregation, panes, progress, .. } = self;
        let mut panes = panes.range_mut(window.start.0..window.end.0).map(|(_, tables)| tables);
        let Some(first) = panes.next() else { return Ok(()) };
        let mut rest: Vec<_> = panes.collect();
        for table in 0..first.tables() {
            // After a restore the key group may have been further than the others: it has seen this window off.
            if window.last() <= progress.of_table(table) {
                continue;
            }
            if rest.is_empty() {
                first.each(table, |_, key, acc| emit(aggregation, key, window, acc, out))?;
                continue;
            }
            fire_merged(
                aggregation,
                window,
                table,
                std::iter::once(&mut *first).chain(rest.iter_mut().map(|pane| &mut **pane)),
                out,
            )?;
        }
        Ok(())
    }

    /// A row came for windows that are over but still take rows: they come out again for its key.
    #[cold]
    fn fire_again(&mut self, slot: Slot, key: &A::Key, out: &mut impl Collector<A::Out>) -> Result<(), Failure> {
        let pane = self.current.bounds.start.0;
        let watermark = self.progress.of(slot);
        let mut after = watermark.saturating_sub(self.allowed_lateness).saturating_add(1);
        while let Some(window) = self.assigner.next_window(pane, after).filter(|window| window.last() <= watermark) {
            after = window.end.0;
            let mut merged: Option<A::Acc> = None;
            for (_, tables) in self.panes.range_mut(window.start.0..window.end.0) {
                match (tables.get(slot, key)?, &mut merged) {
                    (None, _) => {}
                    (Some(acc), None) => merged = Some(acc.clone()),
                    (Some(acc), Some(merged)) => self.aggregation.merge(merged, acc)?,
                }
            }
            if let Some(acc) = merged {
                emit(&self.aggregation, key, window, &acc, out)?;
            }
        }
        Ok(())
    }

    fn schema(&self) -> String {
        let entries = format!("map<{},{}>", A::Key::schema(), A::Acc::schema());
        format!("{}{{watermark:int64,panes:list<(int64,{entries})>}}", self.assigner.describe())
    }
}

/// Merges what several panes have of one key group, and emits it.
fn fire_merged<'a, A: Aggregation>(
    aggregation: &A,
    window: WindowBounds,
    table: u32,
    panes: impl Iterator<Item = &'a mut KeyedTables<A::Key, A::Acc>>,
    out: &mut impl Collector<A::Out>,
) -> Result<(), JobError>
where
    A::Key: 'a,
    A::Acc: 'a,
{
    // None: the merge failed, and the key has no row.
    let mut merged: KeyedTables<A::Key, Option<A::Acc>> = KeyedTables::one();
    for pane in panes {
        pane.each(table, |slot, key, acc| {
            match merged.place(slot.in_one(), key)? {
                Place::Vacant(place) => {
                    place.insert(key.clone(), Some(acc.clone()));
                }
                Place::Occupied(mut place) => {
                    let value = place.value();
                    if let Some(merged) = value
                        && let Err(error) = aggregation.merge(merged, acc)
                    {
                        *value = None;
                        out.reject(error)?;
                    }
                }
            }
            Ok::<_, JobError>(())
        })?;
    }
    merged.each(0, |_, key, acc| match acc {
        Some(acc) => emit(aggregation, key, window, acc, out),
        None => Ok(()),
    })
}

/// Emits a group's row, or counts it as one that has no value.
#[inline]
pub(super) fn emit<A: Aggregation>(
    aggregation: &A,
    key: &A::Key,
    window: WindowBounds,
    acc: &A::Acc,
    out: &mut impl Collector<A::Out>,
) -> Result<(), JobError> {
    match aggregation.output(key, window, acc) {
        Ok(row) => out.emit(row),
        Err(error) => out.reject(error),
    }
}

impl<A: Aggregation, W: WindowAssigner, L: Stage<A::In>> Operator<A::In> for WindowAggregate<A, W, L> {
    type Out = A::Out;

    fn open(&mut self, context: &OperatorContext) {
        self.hasher = KeyHasher::new(context);
    }

    #[inline]
    fn process(&mut self, row: A::In, out: &mut impl Collector<A::Out>) -> Result<(), Failure> {
        let key = self.aggregation.key(&row)?;
        let slot = self.hasher.slot(&key)?;
        let watermark = self.progress.of(slot);
        let time = match self.domain.clock()? {
            None => self.aggregation.time(&row)?.0,
            // After a restore the clock may be behind that of the last run.
            Some(now) => now.max(watermark.saturating_add(1)),
        };
        if time < self.current.bounds.start.0 || time >= self.current.bounds.end.0 {
            self.turn_to(time);
        }
        let Some(expires) = self.current.expires else { return Ok(()) };
        if expires <= watermark {
            return Ok(self.late.push(row)?);
        }
        let again = (self.current.first_over <= watermark && self.allowed_lateness > 0).then(|| key.clone());
        let pane = self.current.bounds.start.0;
        let tables = match self.panes.get_mut(&pane) {
            Some(tables) => tables,
            None => {
                self.open_pane(pane);
                self.panes.entry(pane).or_insert_with(|| KeyedTables::new(&self.hasher))
            }
        };
        match tables.place(slot, &key)? {
            Place::Occupied(mut place) => self.aggregation.add(place.value(), &row)?,
            Place::Vacant(place) => {
                let mut acc = A::Acc::default();
                self.aggregation.add(&mut acc, &row)?;
                place.insert(key, acc);
            }
        }
        match again {
            None => Ok(()),
            Some(key) => self.fire_again(slot, &key, out),
        }
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
        (self.domain.is_processing() && self.due != i64::MAX).then(|| self.due.saturating_add(1))
    }

    fn finish(&mut self, _out: &mut impl Collector<A::Out>) -> Result<(), Failure> {
        if self.domain.is_processing() {
            self.progress = Progress::default();
            self.fired = i64::MIN;
        }
        Ok(())
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        let state = (STATE, self.schema());
        tables_by_time::snapshot(state, &self.hasher, &self.progress, &mut self.panes, snapshot)
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        let of = (STATE, self.schema());
        tables_by_time::restore(of, &mut self.hasher, &mut self.progress, &mut self.panes, state)?;
        self.fired = self.progress.watermark().saturating_add(1);
        self.due = self.next_window().map_or(i64::MAX, WindowBounds::last);
        Ok(())
    }

    late_goes_out!(A::In);
}
