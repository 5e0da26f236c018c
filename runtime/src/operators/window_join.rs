//! `join .. over tumbling(1m)`: rows that lie in the same window.
//!
//! State: key → the rows of both sides with their times, in the order of time. When the watermark has come to the end of a
//! window, its rows are joined. A row is forgotten when its last window is over (and the allowed lateness after it); a row
//! that comes later is late: dropped and counted, or, a left one, sent to the late stage. A row that comes within the
//! allowed lateness of a window that is over meets the rows of that window at once; rows that came out alone by then are
//! not taken back, since the output is append-only.

use std::collections::BTreeSet;

use super::Joining;
use super::join_state::JoinState;
use super::late::{Late, late_goes_out};
use super::left_only::LeftOnly;
use super::unbounded_join::matched;
use crate::error::{JobError, JobResult};
use crate::graph::{JoinKind, Side};
use crate::operator::{
    Collector, Discard, Either, Failure, Operator, OperatorContext, OperatorSnapshot, RestoredOperator, Stage,
};
use crate::state::{Place, Slot};
use crate::time::{DueQueue, Progress, Watermark, WindowAssigner, WindowBounds};

/// Joins rows of two streams that lie in one window.
pub struct WindowJoin<J: Joining, W, N = Discard> {
    join: J,
    kind: JoinKind,
    windows: W,
    lateness: i64,
    /// By time.
    state: JoinState<J::Key, (i64, J::Left), (i64, J::Right)>,
    /// The last moments of windows that have rows of a key, with their start; without, when rows are to be forgotten.
    due: DueQueue<(Option<i64>, J::Key)>,
    progress: Progress,
    late: Late<LeftOnly<N>>,
}

impl<J: Joining, W: WindowAssigner> WindowJoin<J, W> {
    /// A join of this kind in these windows.
    pub fn new(kind: JoinKind, windows: W, join: J) -> Self {
        let (state, due, progress) = (JoinState::new(), DueQueue::default(), Progress::default());
        WindowJoin { join, kind, windows, lateness: 0, state, due, progress, late: Late::counted() }
    }

    /// Every subtask gets all rows of the right side, and any subtask any rows of the left.
    pub fn broadcast(mut self) -> Self {
        self.state.broadcast();
        self
    }

    /// Late left rows go to this stage.
    pub fn with_late<N: Stage<J::Left>>(self, stage: N) -> WindowJoin<J, W, N> {
        let WindowJoin { join, kind, windows, lateness, state, due, progress, .. } = self;
        WindowJoin { join, kind, windows, lateness, state, due, progress, late: Late::to(LeftOnly(stage)) }
    }
}

impl<J: Joining, W: WindowAssigner, N> WindowJoin<J, W, N> {
    /// Windows take rows for so many microseconds after their end.
    pub fn allow_late(mut self, micros: i64) -> Self {
        self.lateness = micros.max(0);
        self
    }
}

/// The windows that a time lies in, in the order of their ends.
fn windows_of<W: WindowAssigner>(windows: &W, time: i64) -> impl Iterator<Item = WindowBounds> {
    let pane = windows.pane(time).start.0;
    let mut after = Some(i64::MIN);
    std::iter::from_fn(move || {
        let window = windows.next_window(pane, after?)?;
        after = Some(window.end.0);
        Some(window)
    })
}

/// When a row of this time is forgotten.
fn last_moment<W: WindowAssigner>(windows: &W, time: i64, lateness: i64) -> i64 {
    let pane = windows.pane(time).start.0;
    windows.last_end(pane).unwrap_or(i64::MIN).saturating_sub(1).saturating_add(lateness)
}

/// The rows of a window.
fn in_window<T>(rows: &[(i64, T)], window: WindowBounds) -> &[(i64, T)] {
    let start = rows.partition_point(|row| row.0 < window.start.0);
    let end = rows.partition_point(|row| row.0 < window.end.0);
    rows.get(start..end.max(start)).unwrap_or_default()
}

fn insert<T>(rows: &mut Vec<(i64, T)>, time: i64, row: T) {
    let at = rows.partition_point(|other| other.0 <= time);
    rows.insert(at, (time, row));
}

impl<J: Joining, W: WindowAssigner, N: Stage<J::Left>> WindowJoin<J, W, N> {
    /// Sets the timers of a row. None: it is too late. Else the windows that are over already.
    fn place_in_time(&mut self, time: i64, slot: Slot, key: &J::Key) -> JobResult<Option<Vec<WindowBounds>>> {
        let watermark = self.progress.of(slot);
        let forget = last_moment(&self.windows, time, self.lateness);
        if forget <= watermark {
            return Ok(None);
        }
        let (lefts, rights) = match self.state.place(slot, key)? {
            Place::Occupied(place) => place.into_value(),
            Place::Vacant(place) => place.insert(key.clone(), (Vec::new(), Vec::new())),
        };
        let mut over = Vec::new();
        let mut first = false;
        for window in windows_of(&self.windows, time) {
            if window.last().saturating_add(self.lateness) <= watermark {
                // It takes no more rows, and some that it had may be forgotten.
                continue;
            }
            // One timer for each window of a key.
            first = in_window(lefts, window).is_empty() && in_window(rights, window).is_empty();
            if window.last() <= watermark {
                over.push(window);
            } else if first {
                self.due.push(window.last(), slot, (Some(window.start.0), key.clone()));
            }
        }
        if self.lateness > 0 && first {
            self.due.push(forget, slot, (None, key.clone()));
        }
        Ok(Some(over))
    }

    fn left(&mut self, row: J::Left, out: &mut impl Collector<J::Out>) -> Result<(), Failure> {
        let time = self.join.left_time(&row)?.0;
        let key = self.join.left_key(&row)?;
        let slot = self.state.slot(&key)?;
        let Some(over) = self.place_in_time(time, slot, &key)? else { return Ok(self.late.left(row)?) };
        let Place::Occupied(mut place) = self.state.place(slot, &key)? else { return Ok(()) };
        let (lefts, rights) = place.value();
        for window in over {
            let rights = if self.join.can_match(&key) { in_window(rights, window) } else { &[] };
            left_row(&self.join, self.kind, window, &row, rights, out)?;
        }
        insert(lefts, time, row);
        Ok(())
    }

    fn right(&mut self, row: J::Right, out: &mut impl Collector<J::Out>) -> Result<(), Failure> {
        let time = self.join.right_time(&row)?.0;
        let key = self.join.right_key(&row)?;
        let slot = self.state.slot(&key)?;
        let Some(over) = self.place_in_time(time, slot, &key)? else {
            if self.state.counts() {
                self.late.count();
            }
            return Ok(());
        };
        let Place::Occupied(mut place) = self.state.place(slot, &key)? else { return Ok(()) };
        let (lefts, rights) = place.value();
        for window in over {
            let mut met = false;
            let lefts = if self.join.can_match(&key) { in_window(lefts, window) } else { &[] };
            for (_, left) in lefts {
                if !matched(&self.join, left, &row, out)? {
                    continue;
                }
                met = true;
                if self.kind == JoinKind::Semi {
                    if !any(&self.join, left, in_window(rights, window), out)? {
                        give(self.join.left_only(left, window), out)?;
                    }
                } else {
                    give(self.join.both(left, &row, window), out)?;
                }
            }
            if !met && self.kind.keeps(Side::Right) {
                give(self.join.right_only(&row, window), out)?;
            }
        }
        insert(rights, time, row);
        Ok(())
    }

    /// Joins the windows that are over, and forgets the rows that no window needs.
    fn advance(&mut self, watermark: i64, out: &mut impl Collector<J::Out>) -> Result<(), JobError> {
        while let Some((at, slot, (start, key))) = self.due.pop(watermark) {
            let done = self.progress.of(slot);
            let Place::Occupied(mut place) = self.state.place(slot, &key)? else { continue };
            let (lefts, rights) = place.value();
            if let Some(start) = start.filter(|_| at > done) {
                let window = WindowBounds::new(start, at.saturating_add(1));
                let (lefts, rights) = (in_window(lefts, window), in_window(rights, window));
                join_window(&self.join, self.kind, window, self.join.can_match(&key), lefts, rights, out)?;
            }
            let (windows, lateness) = (&self.windows, self.lateness);
            let left_end = lefts.partition_point(|row| last_moment(windows, row.0, lateness) <= at);
            let right_end = rights.partition_point(|row| last_moment(windows, row.0, lateness) <= at);
            lefts.drain(..left_end);
            rights.drain(..right_end);
            if lefts.is_empty() && rights.is_empty() {
                place.remove();
            }
        }
        Ok(())
    }
}

fn give<T>(row: Option<T>, out: &mut impl Collector<T>) -> Result<(), JobError> {
    row.map_or(Ok(()), |row| out.emit(row))
}

/// Whether a left row has a partner among these.
fn any<J: Joining>(
    join: &J,
    left: &J::Left,
    rights: &[(i64, J::Right)],
    out: &mut impl Collector<J::Out>,
) -> Result<bool, JobError> {
    for (_, right) in rights {
        if matched(join, left, right, out)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A left row with the right rows of a window.
fn left_row<J: Joining>(
    join: &J,
    kind: JoinKind,
    window: WindowBounds,
    left: &J::Left,
    rights: &[(i64, J::Right)],
    out: &mut impl Collector<J::Out>,
) -> Result<(), JobError> {
    let mut met = false;
    for (_, right) in rights {
        if matched(join, left, right, out)? {
            met = true;
            if !kind.pairs() {
                break;
            }
            give(join.both(left, right, window), out)?;
        }
    }
    if (met && kind == JoinKind::Semi) || (!met && kind.keeps(Side::Left)) {
        give(join.left_only(left, window), out)?;
    }
    Ok(())
}

/// All rows of a window that is over.
fn join_window<J: Joining>(
    join: &J,
    kind: JoinKind,
    window: WindowBounds,
    can_match: bool,
    lefts: &[(i64, J::Left)],
    rights: &[(i64, J::Right)],
    out: &mut impl Collector<J::Out>,
) -> Result<(), JobError> {
    let partners = if can_match { rights } else { &[] };
    for (_, left) in lefts {
        left_row(join, kind, window, left, partners, out)?;
    }
    if !kind.keeps(Side::Right) {
        return Ok(());
    }
    for (_, right) in rights {
        // A condition without a value has been reported already.
        let met = can_match && lefts.iter().any(|(_, left)| join.matches(left, right).unwrap_or(false));
        if !met {
            give(join.right_only(right, window), out)?;
        }
    }
    Ok(())
}

impl<J: Joining, W: WindowAssigner, N: Stage<J::Left>> Operator<Either<J::Left, J::Right>> for WindowJoin<J, W, N> {
    type Out = J::Out;

    fn open(&mut self, context: &OperatorContext) {
        self.state.open(context);
    }

    #[inline]
    fn process(&mut self, row: Either<J::Left, J::Right>, out: &mut impl Collector<J::Out>) -> Result<(), Failure> {
        match row {
            Either::Left(row) => self.left(row, out),
            Either::Right(row) => {
                let result = self.right(row, out);
                self.state.once(result)
            }
        }
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut impl Collector<J::Out>) -> Result<Option<Watermark>, Failure> {
        if watermark.0 <= self.progress.watermark() {
            return Ok(None);
        }
        self.advance(watermark.0, out)?;
        self.progress.advance(watermark);
        Ok(Some(watermark))
    }

    fn finish(&mut self, out: &mut impl Collector<J::Out>) -> Result<(), Failure> {
        self.advance(i64::MAX, out)?;
        self.state.finish();
        Ok(())
    }

    fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> Result<(), JobError> {
        self.state.snapshot(&self.progress, None, snapshot)
    }

    fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        let WindowJoin { due, windows, lateness, progress, .. } = self;
        let found = self.state.restore(state, progress, |slot, key, (lefts, rights)| {
            lefts.sort_by_key(|row| row.0);
            let times = lefts.iter().map(|row| row.0).chain(rights.iter().map(|row| row.0));
            let mut set = BTreeSet::new();
            for time in times {
                set.extend(windows_of(windows, time).map(|window| (window.last(), Some(window.start.0))));
                // Without lateness the end of the last window forgets, and must come first.
                if *lateness > 0 {
                    set.insert((last_moment(windows, time, *lateness), None));
                }
            }
            for (at, start) in set {
                due.push(at, slot, (start, key.clone()));
            }
        })?;
        // Which windows are over differs from row to row.
        if !found.same_moment {
            state.does_not_fit(
                "rows",
                "it holds windows of a broadcast join whose tasks had come to different moments, so its rows can only go back to as many \
                 tasks (go on with the parallelism of before, stop the job with a checkpoint, and make the change then)",
            )?;
            self.state.clear();
            self.due.clear();
            self.progress = Progress::default();
        }
        Ok(())
    }

    late_goes_out!(Either<J::Left, J::Right>);
}
