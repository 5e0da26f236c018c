//! Windows over time, and which of them a time falls into.
//!
//! Rows are aggregated in panes: the largest pieces of time that every window takes whole or not at all. A window's result
//! is made of its panes, so that a row is added once, however many windows overlap. All arithmetic rounds down, so that
//! times before 1970 fall into the right window, and stops at the ends of the range instead of wrapping round.

use crate::value::Timestamp;

/// From `start` up to, not including, `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WindowBounds {
    /// The first moment in it.
    pub start: Timestamp,
    /// The first moment behind it.
    pub end: Timestamp,
}

impl WindowBounds {
    /// All of time: for aggregates without a window.
    pub const ALL: WindowBounds = WindowBounds { start: Timestamp(i64::MIN), end: Timestamp(i64::MAX) };

    /// From and to these microseconds.
    pub fn new(start: i64, end: i64) -> Self {
        WindowBounds { start: Timestamp(start), end: Timestamp(end) }
    }

    /// The last moment in it: the window is over when the watermark has come here.
    #[inline]
    pub fn last(self) -> i64 {
        self.end.0.saturating_sub(1)
    }
}

/// Cuts time into windows. Two windows never end at the same time.
pub trait WindowAssigner: Send {
    /// Whether each pane is a window, and each window a pane.
    const ONE_PANE: bool;

    /// The pane of a time.
    fn pane(&self, time: i64) -> WindowBounds;

    /// Of the windows with the pane that starts here, the first that ends after `after`.
    fn next_window(&self, pane: i64, after: i64) -> Option<WindowBounds>;

    /// The end of the last window with the pane that starts here. None: no window has it.
    fn last_end(&self, pane: i64) -> Option<i64>;

    /// How time is cut, for the schema of state: panes of other windows cannot be taken over.
    fn describe(&self) -> String;
}

/// The greatest `offset + n * size` that is not above `time`.
#[inline]
fn floor(time: i64, size: i64, offset: i64) -> i64 {
    time.saturating_sub(time.saturating_sub(offset).rem_euclid(size))
}

/// The smallest `offset + n * size` that is not below `time`.
#[inline]
fn ceil(time: i64, size: i64, offset: i64) -> i64 {
    let below = floor(time, size, offset);
    if below == time { below } else { below.saturating_add(size) }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Windows of one size, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tumbling {
    size: i64,
    offset: i64,
}

impl Tumbling {
    /// In microseconds. A size below one counts as one.
    pub fn new(size: i64, offset: i64) -> Self {
        Tumbling { size: size.max(1), offset }
    }
}

impl WindowAssigner for Tumbling {
    const ONE_PANE: bool = true;

    #[inline]
    fn pane(&self, time: i64) -> WindowBounds {
        let start = floor(time, self.size, self.offset);
        WindowBounds::new(start, start.saturating_add(self.size))
    }

    fn next_window(&self, pane: i64, after: i64) -> Option<WindowBounds> {
        let end = pane.saturating_add(self.size);
        (end > after).then(|| WindowBounds::new(pane, end))
    }

    fn last_end(&self, pane: i64) -> Option<i64> {
        Some(pane.saturating_add(self.size))
    }

    fn describe(&self) -> String {
        format!("tumbling({},{})", self.size, self.offset)
    }
}

/// Windows of one size, a new one every `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sliding {
    size: i64,
    step: i64,
    offset: i64,
    pane: i64,
}

impl Sliding {
    /// In microseconds. A size or step below one counts as one.
    pub fn new(size: i64, step: i64, offset: i64) -> Self {
        let (size, step) = (size.max(1), step.max(1));
        Sliding { size, step, offset, pane: gcd(size, step) }
    }
}

impl WindowAssigner for Sliding {
    const ONE_PANE: bool = false;

    #[inline]
    fn pane(&self, time: i64) -> WindowBounds {
        let start = floor(time, self.pane, self.offset);
        WindowBounds::new(start, start.saturating_add(self.pane))
    }

    fn next_window(&self, pane: i64, after: i64) -> Option<WindowBounds> {
        let from = pane.saturating_add(self.pane).max(after.saturating_add(1));
        let end = ceil(from, self.step, self.offset.saturating_add(self.size));
        let start = end.saturating_sub(self.size);
        (start <= pane && end > after).then(|| WindowBounds::new(start, end))
    }

    fn last_end(&self, pane: i64) -> Option<i64> {
        let end = floor(pane, self.step, self.offset).saturating_add(self.size);
        (end > pane).then_some(end)
    }

    fn describe(&self) -> String {
        format!("sliding({},{},{})", self.size, self.step, self.offset)
    }
}

/// Windows that start every `max` and grow by `step`: the first has one step, the last all of `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cumulative {
    max: i64,
    step: i64,
    offset: i64,
}

impl Cumulative {
    /// In microseconds. Where `step` does not divide `max` the last window is cut at `max`.
    pub fn new(max: i64, step: i64, offset: i64) -> Self {
        let max = max.max(1);
        Cumulative { max, step: step.clamp(1, max), offset }
    }
}

impl WindowAssigner for Cumulative {
    const ONE_PANE: bool = false;

    #[inline]
    fn pane(&self, time: i64) -> WindowBounds {
        let base = floor(time, self.max, self.offset);
        let start = floor(time, self.step, base);
        WindowBounds::new(start, start.saturating_add(self.step).min(base.saturating_add(self.max)))
    }

    fn next_window(&self, pane: i64, after: i64) -> Option<WindowBounds> {
        let start = floor(pane, self.max, self.offset);
        let last = start.saturating_add(self.max);
        let from = pane.saturating_add(self.step).max(after.saturating_add(1));
        let end = ceil(from, self.step, start).min(last);
        (end > after).then(|| WindowBounds::new(start, end))
    }

    fn last_end(&self, pane: i64) -> Option<i64> {
        Some(floor(pane, self.max, self.offset).saturating_add(self.max))
    }

    fn describe(&self) -> String {
        format!("cumulative({},{},{})", self.max, self.step, self.offset)
    }
}

/// One window, which ends with the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Global;

impl WindowAssigner for Global {
    const ONE_PANE: bool = true;

    #[inline]
    fn pane(&self, _time: i64) -> WindowBounds {
        WindowBounds::ALL
    }

    fn next_window(&self, _pane: i64, after: i64) -> Option<WindowBounds> {
        (after < i64::MAX).then_some(WindowBounds::ALL)
    }

    fn last_end(&self, _pane: i64) -> Option<i64> {
        Some(i64::MAX)
    }

    fn describe(&self) -> String {
        "global".into()
    }
}
