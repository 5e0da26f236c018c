//! Answers that are kept for a while.
//!
//! Bounded in time and in number: when the newer half is full, what was not asked for since the last such moment goes.

use std::hash::Hash;

use hashbrown::HashMap;

/// Values by key, each for a time.
#[derive(Debug)]
pub struct Cache<K, V> {
    /// How long a value stays, in microseconds.
    keep: i64,
    /// How many values `newer` may have.
    half: usize,
    newer: HashMap<K, (i64, V)>,
    older: HashMap<K, (i64, V)>,
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    /// Keeps up to `limit` values for `keep` microseconds each.
    pub fn new(keep: i64, limit: usize) -> Self {
        Cache { keep, half: limit.div_ceil(2).max(1), newer: HashMap::new(), older: HashMap::new() }
    }

    /// The value of a key, where it is not too old at `now`, in microseconds.
    pub fn get(&mut self, key: &K, now: i64) -> Option<V> {
        let keep = self.keep;
        // One as of a time that is still to come is of a clock that was set back: how old it is nobody knows.
        let fresh = |at: i64| (0..keep).contains(&now.saturating_sub(at));
        if let Some((at, value)) = self.newer.get(key) {
            return fresh(*at).then(|| value.clone());
        }
        let (key, (at, value)) = self.older.remove_entry(key)?;
        if !fresh(at) {
            return None;
        }
        let found = value.clone();
        self.put(key, at, value);
        Some(found)
    }

    /// Keeps a value as of `at`, in microseconds.
    pub fn put(&mut self, key: K, at: i64, value: V) {
        if self.newer.len() >= self.half && !self.newer.contains_key(&key) {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(key, (at, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stays_for_its_time_from_when_it_was_put() {
        let mut cache = Cache::new(10, 100);
        cache.put("a", 5, 1);
        assert_eq!(cache.get(&"a", 14), Some(1));
        assert_eq!(cache.get(&"a", 15), None, "reading does not make it younger");
        cache.put("a", 15, 2);
        assert_eq!(cache.get(&"a", 24), Some(2));
    }

    #[test]
    fn a_value_of_a_clock_that_was_set_back_is_asked_for_again() {
        let mut cache = Cache::new(10, 100);
        cache.put("a", 1000, 1);
        assert_eq!(cache.get(&"a", 500), None);
    }

    #[test]
    fn it_never_holds_more_than_its_limit_and_keeps_what_is_asked_for() {
        let mut cache = Cache::new(i64::MAX, 100);
        for number in 0..10_000 {
            cache.put(number, 0, number);
            assert!(cache.newer.len() + cache.older.len() <= 100);
            assert_eq!(cache.get(&0, 0), Some(0), "after {number}");
        }
        assert_eq!(cache.get(&9_999, 0), Some(9_999));
        assert_eq!(cache.get(&5_000, 0), None);
    }
}
