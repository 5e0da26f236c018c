//! State that is forgotten: keys whose state has not changed for some time of the clock.
//!
//! State: key → the clock when it last changed; nothing where there is no limit. What has been emitted for a forgotten key
//! stands for good, and a row that comes later finds no state, as if it were the first.
//!
//! The clock may be set back. What seems to have changed at a time that is still to come has changed at that moment at the latest, so
//! it goes after its limit, or twice that, and not when the clock has come there again.

use crate::error::{JobError, JobResult};
use crate::operator::{OperatorContext, OperatorSnapshot, RestoredOperator};
use crate::record::Key;
use crate::state::{KeyedState, Place, Slot, State};
use crate::time::{DueQueue, Progress};

/// In `impl Operator` for a type with a `state` that goes after a `ttl`: how both begin, and the clock. `$out` goes out.
macro_rules! state_goes_after_ttl {
    ($out:ty) => {
        fn open(&mut self, context: &crate::operator::OperatorContext) {
            self.state.open(context);
            self.ttl.open(context);
        }

        fn on_processing_time(
            &mut self,
            now: i64,
            _out: &mut impl crate::operator::Collector<$out>,
        ) -> Result<(), crate::operator::Failure> {
            Ok(self.ttl.advance(now, &mut self.state)?)
        }

        fn next_processing_time(&self) -> Option<i64> {
            self.ttl.next()
        }
    };
}
pub(super) use state_goes_after_ttl;

/// The same, with checkpoints.
macro_rules! state_with_ttl {
    ($out:ty) => {
        crate::operators::ttl::state_goes_after_ttl!($out);

        fn snapshot(&mut self, snapshot: &mut crate::operator::OperatorSnapshot) -> Result<(), crate::error::JobError> {
            self.state.snapshot(&crate::time::Progress::default(), snapshot)?;
            self.ttl.snapshot(snapshot)
        }
    };
}
pub(super) use state_with_ttl;

/// A clock that goes back by no more than so many microseconds stands still until it has come there again.
const STANDS_STILL: i64 = 1_000_000;

/// When keys were last touched, and which are to be forgotten.
#[derive(Debug)]
pub struct Ttl<K> {
    micros: Option<i64>,
    now: i64,
    touched: KeyedState<K, i64>,
    due: DueQueue<K>,
}

impl<K: Key> Default for Ttl<K> {
    fn default() -> Self {
        Ttl { micros: None, now: 0, touched: KeyedState::new("touched"), due: DueQueue::default() }
    }
}

impl<K: Key> Ttl<K> {
    /// Forgets keys this long after their last change.
    pub fn after(micros: i64) -> Self {
        Ttl { micros: Some(micros.max(1)), ..Ttl::default() }
    }

    /// As [`KeyedState::open`].
    pub fn open(&mut self, context: &OperatorContext) {
        if self.micros.is_some() {
            self.touched.open(context);
        }
    }

    /// The state of a key has changed.
    #[inline]
    pub fn touch(&mut self, slot: Slot, key: &K) -> JobResult<()> {
        let Some(micros) = self.micros else { return Ok(()) };
        match self.touched.place(slot, key)? {
            // Its timer finds that it has been touched since, and is set anew.
            Place::Occupied(mut place) => *place.value() = self.now,
            Place::Vacant(place) => {
                place.insert(key.clone(), self.now);
                self.due.push(self.now.saturating_add(micros), slot, key.clone());
            }
        }
        Ok(())
    }

    /// The clock goes on: the state forgets every key whose time has come.
    pub fn advance<V>(&mut self, now: i64, state: &mut KeyedState<K, V>) -> JobResult<()>
    where
        V: Clone + State + Send + Sync + 'static,
    {
        self.advance_with(now, |slot, key| {
            state.forget(slot, key)?;
            Ok::<_, JobError>(true)
        })
    }

    /// The same, with what forgets a key. False: it cannot be forgotten yet, and counts as touched now.
    pub fn advance_with<E: From<JobError>>(
        &mut self,
        now: i64,
        mut forget: impl FnMut(Slot, &K) -> Result<bool, E>,
    ) -> Result<(), E> {
        let Some(micros) = self.micros else { return Ok(()) };
        if self.now.saturating_sub(now) > micros.min(STANDS_STILL) {
            self.now = now;
            self.due.no_later_than(now.saturating_add(micros));
        }
        self.now = self.now.max(now);
        while let Some((_, slot, key)) = self.due.pop(self.now) {
            let Place::Occupied(mut place) = self.touched.place(slot, &key)? else { continue };
            let touched = *place.value();
            let mut due = touched.saturating_add(micros);
            // The clock was set back behind its last change, and that is long enough ago.
            let is_ahead = touched > self.now;
            if due <= self.now || is_ahead {
                if forget(slot, &key)? {
                    place.remove();
                    continue;
                }
                *place.value() = self.now;
                due = self.now.saturating_add(micros);
            }
            self.due.push(due, slot, key);
        }
        Ok(())
    }

    /// When keys were touched; None: nothing is forgotten.
    pub fn touched(&mut self) -> Option<&mut KeyedState<K, i64>> {
        self.micros.is_some().then_some(&mut self.touched)
    }

    /// Goes on with a key of a checkpoint that was touched then, unless it has been since.
    pub fn resume(&mut self, slot: Slot, key: &K, touched: i64) -> JobResult<()> {
        let Some(micros) = self.micros else { return Ok(()) };
        self.now = self.now.max(touched);
        match self.touched.place(slot, key)? {
            Place::Occupied(mut place) => *place.value() = touched.max(*place.value()),
            Place::Vacant(place) => {
                place.insert(key.clone(), touched);
                self.due.push(touched.saturating_add(micros), slot, key.clone());
            }
        }
        Ok(())
    }

    /// When the next key may have to be forgotten.
    pub fn next(&self) -> Option<i64> {
        self.due.next()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.touched.clear();
        self.due.clear();
    }

    /// As [`KeyedState::snapshot`].
    pub fn snapshot(&mut self, snapshot: &mut OperatorSnapshot) -> JobResult<()> {
        if self.micros.is_some() { self.touched.snapshot(&Progress::default(), snapshot) } else { Ok(()) }
    }

    /// Goes on from a checkpoint. Keys of a checkpoint without a limit, or with another, count as touched when they come again.
    pub fn restore(&mut self, state: &RestoredOperator) -> Result<(), JobError> {
        let (Some(micros), due, now) = (self.micros, &mut self.due, &mut self.now) else { return Ok(()) };
        self.touched.restore(state, &mut Progress::default(), |slot, key, touched| {
            // So far the clock has been: that it has gone back since is seen when it is looked at.
            *now = (*now).max(*touched);
            due.push(touched.saturating_add(micros), slot, key.clone());
        })
    }
}
