//! The sessions of one key.

use crate::state::{State, StateError, StateReader};
use crate::time::WindowBounds;

/// A session: `start..end`, where `end` is the gap after its last row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Session<Acc> {
    pub start: i64,
    pub end: i64,
    /// It has come out; it is kept for rows within the allowed lateness.
    pub fired: bool,
    pub acc: Acc,
}

impl<Acc> Session<Acc> {
    /// Sessions that only touch are one.
    #[inline]
    pub fn touches(&self, start: i64, end: i64) -> bool {
        self.start <= end && start <= self.end
    }

    pub fn bounds(&self) -> WindowBounds {
        WindowBounds::new(self.start, self.end)
    }

    /// The watermark at which something is to be done: it comes out, or it is forgotten.
    pub fn due(&self, allowed_lateness: i64) -> i64 {
        if self.fired { self.forgotten(allowed_lateness) } else { self.bounds().last() }
    }

    /// The watermark at which it takes no more rows.
    pub fn forgotten(&self, allowed_lateness: i64) -> i64 {
        self.bounds().last().saturating_add(allowed_lateness)
    }
}

/// The sessions of one key: nearly always one, which then needs no allocation.
#[derive(Clone, Debug)]
pub(super) struct Sessions<Acc> {
    pub first: Session<Acc>,
    /// Later ones, by start.
    pub rest: Vec<Session<Acc>>,
    /// The time of the one timer of the key that counts. Not part of checkpoints.
    pub timer: i64,
}

impl<Acc> Sessions<Acc> {
    pub fn new(first: Session<Acc>, timer: i64) -> Self {
        Sessions { first, rest: Vec::new(), timer }
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Session<Acc>> {
        std::iter::once(&mut self.first).chain(&mut self.rest)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Session<Acc>> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    /// The earliest watermark at which something is to be done.
    pub fn due(&self, allowed_lateness: i64) -> i64 {
        self.iter().map(|session| session.due(allowed_lateness)).fold(i64::MAX, i64::min)
    }

    /// Keeps the sessions for which `keep` says so. False: none is left.
    pub fn retain(&mut self, keep: impl Fn(&Session<Acc>) -> bool) -> bool {
        self.rest.retain(&keep);
        if keep(&self.first) {
            return true;
        }
        if self.rest.is_empty() {
            return false;
        }
        self.first = self.rest.remove(0);
        true
    }

    /// Puts `session` in the place of the `count` sessions from number `index` on.
    pub fn replace(&mut self, index: usize, count: usize, session: Session<Acc>) {
        if index > 0 {
            self.rest.splice(index - 1..index - 1 + count, [session]);
        } else if count > 0 {
            self.first = session;
            self.rest.drain(..count - 1);
        } else {
            let second = std::mem::replace(&mut self.first, session);
            self.rest.insert(0, second);
        }
    }
}

impl<Acc: State> State for Session<Acc> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.start.encode(out);
        self.end.encode(out);
        self.fired.encode(out);
        self.acc.encode(out);
    }

    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        Ok(Session {
            start: State::decode(input)?,
            end: State::decode(input)?,
            fired: State::decode(input)?,
            acc: State::decode(input)?,
        })
    }

    fn schema() -> String {
        format!("session{{start:int64,end:int64,fired:bool,acc:{}}}", Acc::schema())
    }
}

impl<Acc: State> State for Sessions<Acc> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.first.encode(out);
        self.rest.encode(out);
    }

    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        Ok(Sessions { first: State::decode(input)?, rest: State::decode(input)?, timer: i64::MAX })
    }

    fn encode_local(&self, out: &mut Vec<u8>) {
        self.encode(out);
        self.timer.encode(out);
    }
    fn decode_local(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        let mut local = Self::decode(input)?;
        local.timer = State::decode(input)?;
        Ok(local)
    }
    fn schema() -> String {
        let session = Session::<Acc>::schema();
        format!("sessions{{first:{session},rest:list<{session}>}}")
    }
}
