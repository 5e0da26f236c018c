//! Event time at a source: per split, idle or not, held while rows are unread, and aligned with other sources.
//!
//! The watermark of a reader is the minimum over its splits that are not idle, and never goes back. When none is left that is
//! not idle, it goes as far as any of them had come: nobody holds anything back any more. A split is idle when no row has come
//! from it for some time, and no longer with its next row; the clock for that stands still while the task waits for its
//! consumers, and while the split is paused. A reader is idle when all of its splits are, and so when it has none; but never
//! while unread splits may hold older rows, and never when it has ended.

use std::time::Duration;

use crate::seam::Instant;
use crate::source::SourceReader;
use crate::time::{Watermark, WatermarkTracker};

/// How a source takes part in event time, besides its watermark.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timing {
    /// A split without rows for so long is idle; None: never.
    pub idle_after: Option<Duration>,
    /// Keeps together with others.
    pub alignment: Option<AlignedReader>,
}

/// How far a reader has come, for the coordinator to see.
#[derive(Clone, Debug)]
pub(crate) struct AlignedReader(std::sync::Arc<std::sync::atomic::AtomicI64>);

impl AlignedReader {
    pub(crate) fn new() -> Self {
        AlignedReader(std::sync::Arc::new(i64::MIN.into()))
    }

    /// `i64::MIN`: no row yet; `i64::MAX`: idle or at its end.
    pub(crate) fn read(&self) -> i64 {
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }

    pub(crate) fn report(&self, watermark: i64) {
        self.0.store(watermark, std::sync::atomic::Ordering::Relaxed);
    }
}

/// Event time of one reader.
#[derive(Debug)]
pub(super) struct EventTime {
    timing: Timing,
    splits: Vec<SplitTime>,
    selected: usize,
    /// Rows that had come when the split was selected.
    rows_at_selection: u64,
    /// How far splits had come that are read to their end.
    finished: Watermark,
    /// Unread splits may hold older rows.
    pub hold: bool,
    /// What was sent on.
    pub last: Watermark,
    /// Whether the reader was announced to be idle.
    idle: bool,
    ended: bool,
    started: Instant,
    /// Time that the clock stood still.
    stopped: Duration,
    /// Splits beyond it are paused.
    limit: i64,
    /// Whether the reader can pause single splits; else it is left alone when all of them are too far.
    pauses_splits: bool,
}

#[derive(Debug)]
struct SplitTime {
    id: String,
    tracker: WatermarkTracker,
    /// What the clock showed when its last row came.
    active_at: Duration,
    idle: bool,
    paused: bool,
}

/// What has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Idle,
    Active,
}

impl EventTime {
    pub(super) fn new(timing: Timing) -> Self {
        EventTime {
            // Nobody runs ahead before the others have said where they are.
            limit: if timing.alignment.is_some() { i64::MIN } else { i64::MAX },
            timing,
            splits: Vec::new(),
            selected: 0,
            rows_at_selection: 0,
            finished: Watermark::MIN,
            hold: true,
            last: Watermark::MIN,
            idle: false,
            ended: false,
            started: Instant::now(),
            stopped: Duration::ZERO,
            pauses_splits: true,
        }
    }

    /// The clock of idleness.
    fn now(&self) -> Duration {
        self.started.elapsed().saturating_sub(self.stopped)
    }

    /// This time was spent on waiting for consumers.
    pub(super) fn not_counted(&mut self, time: Duration) {
        self.stopped += time;
    }

    pub(super) fn add(&mut self, id: &str) {
        if !self.splits.iter().any(|split| split.id == id) {
            let tracker = WatermarkTracker::default();
            let active_at = self.now();
            self.splits.push(SplitTime { id: id.to_owned(), tracker, active_at, idle: false, paused: false });
        }
    }

    /// `rows`: how many have come by now.
    pub(super) fn select(&mut self, id: &str, rows: u64) {
        self.settle(rows);
        self.add(id);
        self.selected = self.splits.iter().position(|split| split.id == id).unwrap_or(0);
    }

    /// The id of the selected split.
    pub(super) fn selected(&self) -> Option<&str> {
        self.splits.get(self.selected).map(|split| split.id.as_str())
    }

    /// A row of the selected split allows this time.
    #[inline]
    pub(super) fn observe(&mut self, time: i64) {
        if let Some(split) = self.splits.get_mut(self.selected) {
            split.tracker.observe(time);
        }
    }

    pub(super) fn finish_split(&mut self, id: &str, rows: u64) {
        self.settle(rows);
        if let Some(index) = self.splits.iter().position(|split| split.id == id) {
            let split = self.splits.remove(index);
            self.finished = self.finished.max(split.tracker.watermark());
        }
        self.selected = 0;
    }

    /// Notes whether rows of the selected split have come.
    fn settle(&mut self, rows: u64) {
        if rows > std::mem::replace(&mut self.rows_at_selection, rows) {
            let now = self.now();
            if let Some(split) = self.splits.get_mut(self.selected) {
                split.active_at = now;
                split.idle = false;
            }
        }
    }

    /// After each poll and each message: looks for splits that have fallen silent, and gives whether the reader has become
    /// idle or active again. `rows`: how many have come by now.
    pub(super) fn update(&mut self, rows: u64, held_by_reader: bool) -> Option<Change> {
        self.settle(rows);
        if self.ended {
            // The end was the last that consumers were told: nothing may follow it, not even that the reader is no longer idle.
            self.report();
            return None;
        }
        if let Some(idle_after) = self.timing.idle_after {
            let now = self.now();
            for split in &mut self.splits {
                split.idle |= !split.paused && now.saturating_sub(split.active_at) >= idle_after;
            }
        }
        let idle = !self.hold && !held_by_reader && self.splits.iter().all(|split| split.idle);
        self.report();
        (std::mem::replace(&mut self.idle, idle) != idle).then_some(if idle { Change::Idle } else { Change::Active })
    }

    /// The watermark, if it has moved.
    pub(super) fn new_watermark(&mut self, held_by_reader: bool) -> Option<Watermark> {
        if self.hold || held_by_reader || self.ended {
            return None;
        }
        let active = self.splits.iter().filter(|split| !split.idle).map(|split| split.tracker.watermark()).min();
        let furthest = || self.splits.iter().map(|split| split.tracker.watermark()).max().unwrap_or(Watermark::MIN);
        let watermark = active.unwrap_or_else(|| furthest().max(self.finished));
        (watermark > self.last).then(|| {
            self.last = watermark;
            watermark
        })
    }

    /// When the next split may fall silent, from now.
    pub(super) fn next_look(&self) -> Option<Duration> {
        let idle_after = self.timing.idle_after?;
        let watched = self.splits.iter().filter(|split| !split.idle && !split.paused);
        let earliest = watched.map(|split| split.active_at).min()?;
        Some((earliest + idle_after).saturating_sub(self.now()))
    }

    /// The input has ended: that is not idle.
    pub(super) fn end(&mut self) {
        self.ended = true;
        self.report();
    }

    /// Tells the coordinator how far the reader has come, held or not.
    fn report(&self) {
        let Some(alignment) = &self.timing.alignment else { return };
        let mut speaking = self.splits.iter().filter(|split| !split.idle).peekable();
        let watermark = match (self.ended, speaking.peek()) {
            (true, _) => i64::MAX,
            // Before the first look nobody knows whether there is nothing to read.
            (false, None) => {
                if self.hold {
                    i64::MIN
                } else {
                    i64::MAX
                }
            }
            (false, Some(_)) => {
                let with_rows = speaking.map(|split| split.tracker.watermark()).filter(|&time| time > Watermark::MIN);
                with_rows.min().unwrap_or(Watermark::MIN).0
            }
        };
        alignment.report(watermark);
    }

    /// How far splits may be ahead.
    pub(super) fn set_limit(&mut self, limit: i64) {
        self.limit = limit;
    }

    /// How far the watermark is beyond the limit; None: there is no watermark, or nobody to wait for.
    pub(super) fn drift(&self) -> Option<i64> {
        let known = self.timing.alignment.is_some() && self.last > Watermark::MIN && self.last < Watermark::MAX;
        (known && self.limit > i64::MIN && self.limit < i64::MAX).then(|| self.last.0.saturating_sub(self.limit))
    }

    /// Pauses splits that are too far ahead and goes on with those that no longer are, whether they came from a checkpoint or not,
    /// however many there are, and idle or not.
    pub(super) fn pause_and_resume(&mut self, reader: &mut impl SourceReader) {
        if self.timing.alignment.is_none() {
            return;
        }
        let now = self.now();
        for split in &mut self.splits {
            let paused = split.tracker.watermark() > Watermark::MIN && split.tracker.watermark().0 > self.limit;
            if std::mem::replace(&mut split.paused, paused) != paused {
                self.pauses_splits &= reader.set_paused(&split.id, paused);
                if !paused {
                    split.active_at = now;
                }
            }
        }
    }

    /// Whether the reader is to be left alone: all its splits are too far ahead, and it cannot pause them itself.
    pub(super) fn is_paused(&self) -> bool {
        !self.pauses_splits
            && self.splits.iter().any(|split| split.paused)
            && self.splits.iter().all(|split| split.paused || split.idle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(30);

    fn time(idle_after: Option<Duration>) -> EventTime {
        let mut time = EventTime::new(Timing { idle_after, alignment: None });
        time.hold = false;
        time
    }

    /// Rows of a split.
    fn rows(time: &mut EventTime, split: &str, times: &[i64]) {
        let before = time.rows_at_selection;
        time.select(split, before);
        times.iter().for_each(|&at| time.observe(at + 1));
        time.settle(before + times.len() as u64);
    }

    /// Lets the clock go on.
    fn wait(time: &mut EventTime, seconds: u64) {
        time.started -= Duration::from_secs(seconds);
    }

    fn look(time: &mut EventTime) -> (Option<Change>, Option<i64>) {
        let change = time.update(time.rows_at_selection, false);
        (change, time.new_watermark(false).map(|watermark| watermark.0))
    }

    /// C05: a silent split does not stop event time, an empty reader is idle and not at the end of time.
    #[test]
    fn a_silent_split_holds_nothing_back_after_a_while() {
        let mut time = time(Some(IDLE));
        assert_eq!(look(&mut time), (Some(Change::Idle), None), "nothing to read: idle, and no watermark");
        time.add("a");
        time.add("b");
        assert_eq!(look(&mut time), (Some(Change::Active), None));
        rows(&mut time, "a", &[10]);
        assert_eq!(look(&mut time), (None, None), "b may have older rows");
        wait(&mut time, 29);
        rows(&mut time, "a", &[20]);
        assert_eq!(look(&mut time), (None, None));
        wait(&mut time, 2);
        rows(&mut time, "a", &[30]);
        assert_eq!(look(&mut time), (None, Some(30)));
        rows(&mut time, "b", &[25]);
        assert_eq!(look(&mut time), (None, None), "b speaks again, and the watermark does not go back");
        rows(&mut time, "a", &[50]);
        assert_eq!(look(&mut time), (None, None), "b takes part again");
        rows(&mut time, "b", &[40]);
        assert_eq!(look(&mut time), (None, Some(40)));
        wait(&mut time, 31);
        assert_eq!(look(&mut time), (Some(Change::Idle), Some(50)), "all are silent: as far as any had come");
        rows(&mut time, "b", &[60]);
        assert_eq!(look(&mut time).0, Some(Change::Active));
    }

    #[test]
    fn the_clock_stands_still_while_the_task_waits_for_its_consumers() {
        let mut time = time(Some(IDLE));
        time.add("a");
        wait(&mut time, 100);
        time.not_counted(Duration::from_secs(80));
        assert_eq!(look(&mut time), (None, None));
        assert!(time.next_look().unwrap() <= Duration::from_secs(10));
        wait(&mut time, 11);
        assert_eq!(look(&mut time), (Some(Change::Idle), None));
        assert_eq!(time.next_look(), None);
    }

    #[test]
    fn held_and_ended_are_not_idle() {
        let mut time = time(None);
        time.hold = true;
        assert_eq!(look(&mut time), (None, None));
        time.hold = false;
        assert_eq!(time.update(0, true), None, "the reader itself says that rows may come");
        time.end();
        assert_eq!(look(&mut time), (None, None));
    }

    #[test]
    fn a_split_that_is_read_to_its_end_counts_when_no_other_is_left() {
        let mut time = time(None);
        time.hold = true;
        rows(&mut time, "a", &[10]);
        time.finish_split("a", time.rows_at_selection);
        rows(&mut time, "b", &[5]);
        assert_eq!(look(&mut time), (None, None));
        time.hold = false;
        assert_eq!(look(&mut time), (None, Some(5)));
        time.finish_split("b", time.rows_at_selection);
        assert_eq!(look(&mut time), (Some(Change::Idle), Some(10)));
    }

    /// A consumer that is told something behind the end takes it for a broken channel.
    #[test]
    fn an_idle_reader_that_ends_says_nothing_more() {
        let mut time = time(None);
        assert_eq!(look(&mut time), (Some(Change::Idle), None));
        time.end();
        assert_eq!(look(&mut time), (None, None));
    }

    struct Reader {
        paused: Vec<String>,
        can: bool,
    }

    impl SourceReader for Reader {
        type Row = ();
        type Split = crate::connectors::file::FileSplit;

        fn add_splits(&mut self, _splits: Vec<Self::Split>) -> crate::JobResult<()> {
            Ok(())
        }

        fn no_more_splits(&mut self) {}

        fn poll(
            &mut self,
            _context: &mut std::task::Context<'_>,
            _out: &mut impl crate::source::SourceOutput<()>,
        ) -> std::task::Poll<crate::JobResult<crate::source::ReaderStatus>> {
            std::task::Poll::Pending
        }

        fn snapshot(&self) -> Vec<Self::Split> {
            Vec::new()
        }

        fn set_paused(&mut self, split: &str, paused: bool) -> bool {
            self.paused.retain(|id| id != split);
            if paused {
                self.paused.push(split.to_owned());
            }
            self.can
        }
    }

    fn aligned() -> (EventTime, AlignedReader) {
        let alignment = AlignedReader::new();
        let mut time = EventTime::new(Timing { idle_after: Some(IDLE), alignment: Some(alignment.clone()) });
        time.hold = false;
        (time, alignment)
    }

    #[test]
    fn splits_beyond_the_limit_are_paused_one_by_one_and_do_not_fall_idle() {
        let (mut time, alignment) = aligned();
        let mut reader = Reader { paused: Vec::new(), can: true };
        rows(&mut time, "a", &[10]);
        rows(&mut time, "b", &[100]);
        look(&mut time);
        assert_eq!((alignment.read(), time.drift()), (10, None));
        time.set_limit(50);
        assert_eq!(time.drift(), Some(-40));
        time.pause_and_resume(&mut reader);
        assert_eq!((reader.paused.clone(), time.is_paused()), (vec!["b".to_owned()], false));
        wait(&mut time, 31);
        look(&mut time);
        assert_eq!(alignment.read(), 100, "a is idle now, b is only paused");
        time.set_limit(150);
        time.pause_and_resume(&mut reader);
        assert_eq!(reader.paused, [""; 0]);
        assert_eq!(look(&mut time).0, None, "its clock starts anew");
        wait(&mut time, 31);
        assert_eq!(look(&mut time).0, Some(Change::Idle));
        assert_eq!(alignment.read(), i64::MAX);
    }

    #[test]
    fn a_single_split_pauses_too_and_an_idle_one_is_resumed() {
        let (mut time, alignment) = aligned();
        let mut reader = Reader { paused: Vec::new(), can: false };
        assert_eq!(alignment.read(), i64::MIN);
        rows(&mut time, "a", &[100]);
        time.pause_and_resume(&mut reader);
        assert!(time.is_paused(), "before the others have said where they are nobody runs ahead");
        time.set_limit(100);
        time.pause_and_resume(&mut reader);
        assert!(!time.is_paused());
        wait(&mut time, 31);
        look(&mut time);
        time.set_limit(50);
        time.pause_and_resume(&mut reader);
        assert_eq!(reader.paused, ["a"]);
        time.set_limit(200);
        time.pause_and_resume(&mut reader);
        assert_eq!(reader.paused, [""; 0]);
    }

    #[test]
    fn a_reader_that_has_ended_holds_nobody_back() {
        let (mut time, alignment) = aligned();
        rows(&mut time, "a", &[1]);
        time.end();
        assert_eq!(alignment.read(), i64::MAX);
    }
}
