//! A map whose entries may go by themselves.

use std::collections::BTreeMap;
use std::ops::RangeBounds;

use super::{Expiring, stored_as};
use crate::state::State;
use crate::value::Timestamp;

/// Values by key, in the order of the keys; each may go by itself at a time of the clock. Where all stay, a `BTreeMap` will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapState<K, V>(BTreeMap<K, Expiring<V>>);

impl<K, V> Default for MapState<K, V> {
    fn default() -> Self {
        MapState(BTreeMap::new())
    }
}

impl<K: Ord, V> MapState<K, V> {
    /// The value of a key, if it is there at this time.
    pub fn get(&self, key: &K, now: Timestamp) -> Option<&V> {
        self.0.get(key).filter(|kept| kept.lives(now)).map(|kept| &kept.value)
    }

    /// The same, to be changed. When it goes stays as it was.
    pub fn get_mut(&mut self, key: &K, now: Timestamp) -> Option<&mut V> {
        self.0.get_mut(key).filter(|kept| kept.lives(now)).map(|kept| &mut kept.value)
    }

    /// Gives a key a value that stays.
    pub fn insert(&mut self, key: K, value: V) {
        self.0.insert(key, Expiring::forever(value));
    }

    /// Gives a key a value that is gone from `until` on.
    pub fn insert_until(&mut self, key: K, value: V, until: Timestamp) {
        self.0.insert(key, Expiring::until(value, until));
    }

    /// Lets an entry live on until another time, if it is there at this time.
    pub fn renew(&mut self, key: &K, until: Timestamp, now: Timestamp) {
        if let Some(kept) = self.0.get_mut(key) {
            kept.renew(until, now);
        }
    }

    /// Takes an entry out.
    pub fn remove(&mut self, key: &K, now: Timestamp) -> Option<V> {
        self.0.remove(key).filter(|kept| kept.lives(now)).map(|kept| kept.value)
    }

    /// The entries that are there at this time.
    pub fn iter(&self, now: Timestamp) -> impl Iterator<Item = (&K, &V)> {
        self.range(.., now)
    }

    /// Those whose keys lie in a range.
    pub fn range(&self, keys: impl RangeBounds<K>, now: Timestamp) -> impl Iterator<Item = (&K, &V)> {
        self.0.range(keys).filter(move |(_, kept)| kept.lives(now)).map(|(key, kept)| (key, &kept.value))
    }

    /// How many entries there are at this time.
    pub fn len(&self, now: Timestamp) -> usize {
        self.iter(now).count()
    }

    /// Whether there is none at this time.
    pub fn is_empty(&self, now: Timestamp) -> bool {
        self.iter(now).next().is_none()
    }

    /// Of the entries that are there at this time, keeps only those like these.
    pub fn retain(&mut self, now: Timestamp, mut keep: impl FnMut(&K, &V) -> bool) {
        self.0.retain(|key, kept| kept.lives(now) && keep(key, &kept.value));
    }

    /// Forgets all entries.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl<K: State + Ord, V: State> MapState<K, V> {
    fn drop_expired(&mut self, now: i64) {
        self.0.retain(|_, kept| {
            kept.expire(now);
            !kept.gone_by(now)
        });
    }
}

stored_as!([K: State + Ord, V: State] MapState<K, V>, BTreeMap<K, Expiring<V>>);
