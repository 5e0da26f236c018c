//! `map_of`, `map_keys`, `map_values`, `map_length`, `map_contains`

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new(
        "maps",
        "map_of(keys: list<K>, values: list<V>) -> map<K, V>",
        "The map of these keys to these values. Of equal keys the last counts; lists of unequal lengths are an error.",
        &[("map_of([\"a\", \"b\"], [1, 2])[\"b\"]", "2")],
    )
    .fallible(),
    FunctionSpec::new(
        "maps",
        "map_keys(map: map<K, V>) -> list<K>",
        "The keys of a map, in ascending order.",
        &[("map_keys(map_of([\"b\", \"a\"], [1, 2]))", "[\"a\", \"b\"]")],
    ),
    FunctionSpec::new(
        "maps",
        "map_values(map: map<K, V>) -> list<V>",
        "The values of a map, in the order of their keys.",
        &[("map_values(map_of([\"b\", \"a\"], [1, 2]))", "[2, 1]")],
    ),
    FunctionSpec::new(
        "maps",
        "map_length(map: map<K, V>) -> int64",
        "The number of keys.",
        &[("map_length(map_of([\"a\", \"a\"], [1, 2]))", "1")],
    ),
    FunctionSpec::new(
        "maps",
        "map_contains(map: map<K, V>, key: K) -> bool",
        "Whether the map has this key, whatever its value.",
        &[("map_contains(map_of([\"a\"], [1]), \"a\")", "true")],
    ),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::value::compare::Compare;
    use crate::value::{EvalError, Map};

    /// The map of these keys to these values.
    pub fn map_of<K: Clone + Ord, V: Clone>(keys: &[K], values: &[V]) -> Result<Map<K, V>, EvalError> {
        if keys.len() != values.len() {
            return Err(EvalError::new(format!("a map of {} keys and {} values", keys.len(), values.len())));
        }
        Ok(keys.iter().cloned().zip(values.iter().cloned()).collect())
    }

    /// The keys of a map.
    pub fn map_keys<K: Clone, V>(map: &Map<K, V>) -> Vec<K> {
        map.keys().cloned().collect()
    }

    /// The values of a map.
    pub fn map_values<K, V: Clone>(map: &Map<K, V>) -> Vec<V> {
        map.values().cloned().collect()
    }

    /// The number of keys.
    pub fn map_length<K, V>(map: &Map<K, V>) -> i64 {
        map.len() as i64
    }

    /// Whether the map has the key.
    pub fn map_contains<K: Compare<Q>, V, Q>(map: &Map<K, V>, key: Q) -> bool {
        // Maps are small; a search by order would need the key in its owned form.
        map.keys().any(|own| own.same(&key))
    }

    #[test]
    fn maps_are_in_the_order_of_keys() {
        let map = map_of(&[2, 1, 2], &["x", "a", "b"]).unwrap();
        assert_eq!((map_keys(&map), map_values(&map), map_length(&map)), (vec![1, 2], vec!["a", "b"], 2));
        assert!(map_contains(&map, 1) && !map_contains(&map, 3));
        assert_eq!(map_of(&[1], &[2, 3]).unwrap_err().reason(), "a map of 1 keys and 2 values");
    }
}
