//! `list_contains`, `list_length`, `map_keys`, `map_values`

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new(
        "lists",
        "list_contains(items: list<T>, value: T) -> bool",
        "Whether the value stands in the list. The same as `value in items`.",
        &[("list_contains([1, 2], 2)", "true")],
    ),
    FunctionSpec::new("lists", "list_length(items: list<T>) -> int64", "The number of items.", &[("list_length([1, 2])", "2")]),
    FunctionSpec::new(
        "lists",
        "map_keys(map: map<K, V>) -> list<K>",
        "The keys of a map, in ascending order.",
        &[("list_length(map_keys(m))", "list_length(map_values(m))")],
    ),
    FunctionSpec::new(
        "lists",
        "map_values(map: map<K, V>) -> list<V>",
        "The values of a map, in the order of their keys.",
        &[("list_length(map_keys(m))", "list_length(map_values(m))")],
    ),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::value::Map;
    use crate::value::compare::Compare;

    /// Whether the value stands in the list.
    #[inline]
    pub fn list_contains<T: Compare<V>, V>(items: &[T], value: V) -> bool {
        items.iter().any(|item| item.same(&value))
    }

    /// The number of items.
    #[inline]
    pub fn list_length<T>(items: &[T]) -> i64 {
        items.len() as i64
    }

    /// The keys of a map.
    pub fn map_keys<K: Clone, V>(map: &Map<K, V>) -> Vec<K> {
        map.keys().cloned().collect()
    }

    /// The values of a map.
    pub fn map_values<K, V: Clone>(map: &Map<K, V>) -> Vec<V> {
        map.values().cloned().collect()
    }

    #[test]
    fn lists_and_maps() {
        assert!(
            list_contains(&[crate::value::Str::from("a")], "a")
                && !list_contains(&[1], 2)
                && list_contains(&[f64::NAN], f64::NAN)
        );
        let map = Map::from([(2, "b"), (1, "a")]);
        assert_eq!((list_length(&[1, 2]), map_keys(&map), map_values(&map)), (2, vec![1, 2], vec!["a", "b"]));
    }
}
