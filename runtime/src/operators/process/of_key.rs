//! What is kept for a key: the state of the process, and its timers.

use crate::state::{State, StateError, StateReader, encode_to_vec};
use crate::value::Timestamp;

/// All that is kept for a key.
#[derive(Clone, Debug)]
pub(super) struct OfKey<S> {
    /// None: nothing was stored, or it was forgotten.
    pub state: Option<S>,
    /// The clock at the last call. Microseconds.
    pub touched: i64,
    pub event: Times,
    pub clock: Times,
}

impl<S> Default for OfKey<S> {
    fn default() -> Self {
        OfKey { state: None, touched: 0, event: Times::default(), clock: Times::default() }
    }
}

impl<S> OfKey<S> {
    /// Whether nothing is lost when it goes.
    pub fn is_empty(&self) -> bool {
        self.state.is_none() && self.event.is_empty() && self.clock.is_empty()
    }
}

impl<S: State + Default> OfKey<S> {
    /// Whether the clock has gone past something in it.
    pub fn is_over(&self, now: i64, ttl: Option<i64>) -> bool {
        self.state.as_ref().is_some_and(|state| {
            // A last call in the future: the clock has gone back.
            ttl.is_some_and(|ttl| self.touched > now || self.touched.saturating_add(ttl) <= now)
                || (S::EXPIRES && state.is_over(now))
        })
    }

    /// Forgets what the clock has gone past.
    pub fn expire(&mut self, now: i64, ttl: Option<i64>) {
        self.touched = self.touched.min(now);
        if ttl.is_some_and(|ttl| self.touched.saturating_add(ttl) <= now) {
            self.state = None;
        }
        let Some(state) = &mut self.state else { return };
        if S::EXPIRES && state.is_over(now) {
            state.expire(now);
            // What is as at first need not be kept.
            if encode_to_vec(state) == encode_to_vec(&S::default()) {
                self.state = None;
            }
        }
    }
}

impl<S: State> State for OfKey<S> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.state.encode(out);
        Timestamp(self.touched).encode(out);
        self.event.encode(out);
        self.clock.encode(out);
    }

    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        let state = Option::decode(input)?;
        let touched = Timestamp::decode(input)?.0;
        Ok(OfKey { state, touched, event: Times::decode(input)?, clock: Times::decode(input)? })
    }

    fn schema() -> String {
        let times = Times::schema();
        format!("process{{state:{}?,touched:timestamp,event_timers:{times},clock_timers:{times}}}", S::schema())
    }
}

/// Times, each once, in order. Most keys have no more than one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Times {
    #[default]
    None,
    One(i64),
    Many(Vec<i64>),
}

impl Times {
    pub fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    pub fn as_slice(&self) -> &[i64] {
        match self {
            Times::None => &[],
            Times::One(time) => std::slice::from_ref(time),
            Times::Many(times) => times,
        }
    }

    /// False: it is there already.
    pub fn insert(&mut self, time: i64) -> bool {
        match self {
            Times::None => *self = Times::One(time),
            Times::One(other) if *other == time => return false,
            Times::One(other) => *self = Times::Many(vec![time.min(*other), time.max(*other)]),
            Times::Many(times) => match times.binary_search(&time) {
                Ok(_) => return false,
                Err(index) => times.insert(index, time),
            },
        }
        true
    }

    /// False: it is not there.
    pub fn remove(&mut self, time: i64) -> bool {
        match self {
            Times::One(other) if *other == time => *self = Times::None,
            Times::Many(times) => match times.binary_search(&time) {
                Ok(index) => {
                    times.remove(index);
                    if times.is_empty() {
                        *self = Times::None;
                    }
                }
                Err(_) => return false,
            },
            _ => return false,
        }
        true
    }
}

impl State for Times {
    fn encode(&self, out: &mut Vec<u8>) {
        let times = self.as_slice();
        (times.len() as u64).encode(out);
        times.iter().for_each(|time| time.encode(out));
    }

    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        let mut times = Vec::<i64>::decode(input)?;
        times.sort_unstable();
        times.dedup();
        Ok(match times.as_slice() {
            [] => Times::None,
            [time] => Times::One(*time),
            _ => Times::Many(times),
        })
    }

    fn schema() -> String {
        "list<timestamp>".into()
    }
}
