//! What a process can do while it handles a row or a timer.

use super::Process;
use super::of_key::OfKey;
use crate::checkpoint::{Cursor, Layout, value};
use crate::state::{Everywhere, State, encode_to_vec};
use crate::value::Timestamp;

/// A row or a timer of a key is being handled: its state, its timers, what time it is, and where rows go out.
pub struct Context<'a, P: Process> {
    pub(super) of_key: &'a mut OfKey<P::State>,
    pub(super) changes: &'a mut Changes,
    pub(super) rest: SharedContext<'a, P>,
    pub(super) row_time: Option<Timestamp>,
    pub(super) key: &'a dyn ShowKey,
}

/// A row without a key is being handled, or the end.
pub struct SharedContext<'a, P: Process> {
    pub(super) shared: &'a mut P::Shared,
    /// What is emitted first stays with the call: most calls emit one row, which then never goes through memory.
    pub(super) first: Option<P::Output>,
    pub(super) outputs: &'a mut Outputs<P>,
    pub(super) watermark: i64,
    pub(super) now: i64,
    pub(super) everywhere: Everywhere,
}

/// What a call has emitted, besides its first row.
pub(super) struct Outputs<P: Process> {
    pub rows: Vec<P::Output>,
    pub sides: Vec<P::Side>,
}

impl<P: Process> Default for Outputs<P> {
    fn default() -> Self {
        Outputs { rows: Vec::new(), sides: Vec::new() }
    }
}

/// What a call has done to timers, besides keeping them in the state of the key.
#[derive(Default)]
pub(super) struct Changes {
    pub event: ChangedTimers,
    pub clock: ChangedTimers,
}

impl Changes {
    /// Nobody asks for them.
    #[inline]
    pub fn forget(&mut self) {
        for changed in [&mut self.event, &mut self.clock] {
            if !changed.is_nothing() {
                *changed = ChangedTimers::default();
            }
        }
    }
}

#[derive(Default)]
pub(super) struct ChangedTimers {
    pub set: Vec<i64>,
    pub deleted: usize,
}

impl ChangedTimers {
    #[inline]
    pub fn is_nothing(&self) -> bool {
        self.set.is_empty() && self.deleted == 0
    }
}

impl<P: Process> Context<'_, P> {
    /// The state of the key; at first its default.
    #[inline]
    pub fn state(&mut self) -> &mut P::State {
        self.of_key.state.get_or_insert_with(P::State::default)
    }

    /// The state of the key, if it has any.
    #[inline]
    pub fn stored(&self) -> Option<&P::State> {
        self.of_key.state.as_ref()
    }

    /// Forgets the state of the key. Its timers stay.
    pub fn clear(&mut self) {
        self.of_key.state = None;
    }

    /// Sends a row on.
    #[inline]
    pub fn emit(&mut self, row: P::Output) {
        self.rest.emit(row);
    }

    /// Sends a row to the side output.
    #[inline]
    pub fn side(&mut self, row: P::Side) {
        self.rest.side(row);
    }

    /// What is kept beside the keys. A [`BroadcastState`](crate::state::BroadcastState) in it can only be read: what changes it
    /// comes to every subtask, and rows with a key do not.
    ///
    /// ```compile_fail
    /// use millstream_runtime::operators::{Context, Process};
    ///
    /// fn with_a_row_of_a_key<P: Process>(cx: &mut Context<'_, P>) {
    ///     cx.broadcast();
    /// }
    /// ```
    pub fn shared(&mut self) -> &mut P::Shared {
        self.rest.shared
    }

    /// How far event time has come. None: nothing is known yet.
    pub fn watermark(&self) -> Option<Timestamp> {
        self.rest.watermark()
    }

    /// The clock, as it was before this batch.
    #[inline]
    pub fn now(&self) -> Timestamp {
        self.rest.now()
    }

    /// The event time of the row. None: it has none, or a timer fires.
    #[inline]
    pub fn row_time(&self) -> Option<Timestamp> {
        self.row_time
    }

    /// Asks for [`Process::on_event_timer`] when the watermark has passed this time; one that lies behind it fires with the
    /// next. A time that was asked for already counts once.
    pub fn event_timer(&mut self, at: Timestamp) {
        if self.of_key.event.insert(at.0) {
            self.changes.event.set.push(at.0);
        }
    }

    /// Takes that back.
    pub fn delete_event_timer(&mut self, at: Timestamp) {
        self.changes.event.deleted += usize::from(self.of_key.event.remove(at.0));
    }

    /// Asks for [`Process::on_clock_timer`] when the clock has come to this time. A time that was asked for already counts once.
    pub fn clock_timer(&mut self, at: Timestamp) {
        if self.of_key.clock.insert(at.0) {
            self.changes.clock.set.push(at.0);
        }
    }

    /// Takes that back.
    pub fn delete_clock_timer(&mut self, at: Timestamp) {
        self.changes.clock.deleted += usize::from(self.of_key.clock.remove(at.0));
    }

    /// The timers of event time that the key has, in their order.
    pub fn event_timers(&self) -> impl Iterator<Item = Timestamp> + '_ {
        self.of_key.event.as_slice().iter().copied().map(Timestamp)
    }

    /// The timers of the clock that the key has, in their order.
    pub fn clock_timers(&self) -> impl Iterator<Item = Timestamp> + '_ {
        self.of_key.clock.as_slice().iter().copied().map(Timestamp)
    }

    /// The key, for messages: as `millstream state show` shows it.
    pub fn key_text(&self) -> String {
        self.key.text()
    }
}

impl<P: Process> SharedContext<'_, P> {
    /// Sends a row on.
    #[inline]
    pub fn emit(&mut self, row: P::Output) {
        match self.first {
            None => self.first = Some(row),
            Some(_) => self.outputs.rows.push(row),
        }
    }

    /// Sends a row to the side output.
    #[inline]
    pub fn side(&mut self, row: P::Side) {
        self.outputs.sides.push(row);
    }

    /// What is kept beside the keys.
    pub fn shared(&mut self) -> &mut P::Shared {
        self.shared
    }

    /// The same, with what it takes to change a [`BroadcastState`](crate::state::BroadcastState).
    ///
    /// ```
    /// use millstream_runtime::operators::{Process, SharedContext};
    ///
    /// fn with_a_row_for_all<P: Process>(cx: &mut SharedContext<'_, P>) {
    ///     cx.broadcast();
    /// }
    /// ```
    pub fn broadcast(&mut self) -> (&mut P::Shared, &Everywhere) {
        (self.shared, &self.everywhere)
    }

    /// How far event time has come. None: nothing is known yet.
    pub fn watermark(&self) -> Option<Timestamp> {
        (self.watermark != i64::MIN).then_some(Timestamp(self.watermark))
    }

    /// The clock, as it was before this batch.
    #[inline]
    pub fn now(&self) -> Timestamp {
        Timestamp(self.now)
    }
}

/// A key as text.
pub(super) trait ShowKey {
    fn text(&self) -> String;
}

impl<K: State> ShowKey for K {
    #[cold]
    fn text(&self) -> String {
        let bytes = encode_to_vec(self);
        let shown = Layout::parse(&K::schema()).and_then(|layout| value(&mut Cursor::new(&bytes), &layout).ok());
        shown.unwrap_or_else(|| format!("{bytes:?}"))
    }
}
