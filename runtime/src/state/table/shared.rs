//! What a snapshot has of a key group until it is encoded.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::entry::Entry;
use super::segment::Segment;
use crate::checkpoint::pieces::InPlace;
use crate::state::State;

/// If somebody panicked while encoding, that was their matter: segments are only read there.
pub(super) fn lock<T>(cell: &Mutex<T>) -> MutexGuard<'_, T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The segments that a snapshot has taken.
#[derive(Debug)]
pub(super) struct Shared<K, V> {
    /// Their numbers, in order.
    pub numbers: Vec<u32>,
    /// Each is locked for as long as it takes to encode it. Taken back: None.
    pub segments: Vec<Mutex<Option<Segment<K, V>>>>,
    /// Keys that were removed.
    pub gone: Mutex<Vec<K>>,
    pub number: u32,
    pub form: Form,
    /// What was encoded when it was taken back.
    pub bytes: Mutex<Vec<u8>>,
}

/// What a snapshot wants of its segments.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// Every key with its value.
    Entries,
    /// Every key with its value, as [`pieces`] have them.
    All,
    /// What has changed in this epoch, as [`pieces`] have it.
    Changes(u32),
}

impl Form {
    pub fn encode<K: State, V: State>(self, segment: &Segment<K, V>, out: &mut Vec<u8>) {
        let mut in_place = InPlace::default();
        let mut put = |entry: &Entry<K, V>, out: &mut Vec<u8>| {
            in_place.put(|out| entry.key.encode(out), |out| entry.value.encode(out), out);
        };
        match self {
            Form::Entries => {
                touch(segment.list.iter());
                segment.list.iter().for_each(|entry| {
                    entry.key.encode(out);
                    entry.value.encode(out);
                });
            }
            Form::All => {
                touch(segment.list.iter());
                segment.list.iter().for_each(|entry| put(entry, out));
            }
            Form::Changes(epoch) => {
                touch(segment.written(epoch));
                segment.written(epoch).for_each(|entry| put(entry, out));
            }
        }
    }
}

/// Has entries of a segment come into the caches together: they have left them since they were written to, and to wait for each takes longer
/// than to encode it.
#[inline]
fn touch<'a, K: State + 'a, V: State + 'a>(entries: impl Iterator<Item = &'a Entry<K, V>>) {
    std::hint::black_box(entries.fold(0, |seen, entry| seen | entry.key.touch() | entry.value.touch()));
}

impl<K: State, V: State> Shared<K, V> {
    /// Appends what is wanted of all segments, once.
    fn encode(&self, out: &mut Vec<u8>) {
        // In front of those that came again.
        let mut in_place = InPlace::default();
        for key in std::mem::take(&mut *lock(&self.gone)) {
            in_place.removed(|out| key.encode(out), out);
        }
        for cell in &self.segments {
            let mut cell = lock(cell);
            if let Some(segment) = &mut *cell
                && segment.encoded != self.number
            {
                self.form.encode(segment, out);
                segment.encoded = self.number;
            }
        }
        out.append(&mut lock(&self.bytes));
    }

    /// A segment, if it has it, encoded first if that is not done yet.
    pub fn take_back(&self, number: u32) -> Option<Segment<K, V>> {
        let place = self.numbers.binary_search(&number).ok()?;
        // Locked until that is in the bytes: who encodes the others waits for it.
        let mut cell = lock(&self.segments[place]);
        let segment = cell.take()?;
        if segment.encoded != self.number {
            self.form.encode(&segment, &mut lock(&self.bytes));
        }
        Some(segment)
    }
}

/// What has changed in a key group.
pub(in crate::state) struct Shares<K, V> {
    /// How many entries it has.
    pub live: usize,
    /// How many of them are in the snapshot.
    pub most: usize,
    /// Nothing counts that was known before.
    pub anew: bool,
    pub snapshot: Snapshot<K, V>,
}

/// A key group as it was when a snapshot took it.
pub(in crate::state) struct Snapshot<K, V>(Mutex<Held<K, V>>);

enum Held<K, V> {
    Shared(Arc<Shared<K, V>>),
    Encoded(Vec<u8>),
    /// Whoever asked for it has it.
    Given,
}

impl<K, V> Snapshot<K, V> {
    pub(super) fn new(shared: Arc<Shared<K, V>>) -> Self {
        Snapshot(Mutex::new(Held::Shared(shared)))
    }
}

impl<K: State, V: State> Snapshot<K, V> {
    /// Appends what it wants of all segments. Any number of times: what is encoded is kept.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut held = lock(&self.0);
        if let Held::Shared(_) = &*held {
            let mut bytes = Vec::new();
            held.give(&mut bytes);
            *held = Held::Encoded(bytes);
        }
        if let Held::Encoded(bytes) = &*held {
            out.extend_from_slice(bytes);
        }
    }

    /// The same for who keeps it: it is nowhere else then. False: it was given before.
    pub fn give(&self, out: &mut Vec<u8>) -> bool {
        lock(&self.0).give(out)
    }
}

impl<K: State, V: State> Held<K, V> {
    fn give(&mut self, out: &mut Vec<u8>) -> bool {
        match std::mem::replace(self, Held::Given) {
            Held::Shared(shared) => shared.encode(out),
            Held::Encoded(bytes) => out.extend_from_slice(&bytes),
            Held::Given => return false,
        }
        true
    }
}
