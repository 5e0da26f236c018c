//! `list_contains`, `list_length`, `list_sort`, `list_slice`, `range`, and the like

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
        "list_sort(items: list<O>) -> list<O>",
        "The items in ascending order. Nulls come first, NaN last.",
        &[("list_sort([3, 1, 2])", "[1, 2, 3]")],
    ),
    FunctionSpec::new(
        "lists",
        "list_reverse(items: list<T>) -> list<T>",
        "The items in reverse order.",
        &[("list_reverse(list_sort([3, 1, 2]))", "[3, 2, 1]")],
    ),
    FunctionSpec::new(
        "lists",
        "list_distinct(items: list<O>) -> list<O>",
        "The items without those that stood in the list before. The order stays.",
        &[("list_distinct([\"b\", \"a\", \"b\"])", "[\"b\", \"a\"]")],
    ),
    FunctionSpec::new(
        "lists",
        "list_slice(items: list<T>, start: int64, length?: int64) -> list<T>",
        "Part of a list: `length` items from position `start`, or all from there.\n\nPositions count from 0; a negative one counts \
         from the end. What lies outside of the list is left out.",
        &[("list_slice([1, 2, 3, 4], 1, 2)", "[2, 3]"), ("list_slice([1, 2, 3, 4], -1)", "[4]")],
    ),
    FunctionSpec::new(
        "lists",
        "list_concat(first: list<T>, second: list<T>) -> list<T>",
        "The items of both lists.",
        &[("list_concat([1, 2], [3])", "[1, 2, 3]")],
    ),
    FunctionSpec::new(
        "lists",
        "list_index_of(items: list<T>, value: T) -> int64?",
        "The position of the first item that is equal to the value, counted from 0; null where there is none.",
        &[("list_index_of([\"a\", \"b\"], \"b\")", "1"), ("list_index_of([1], 2)", "null")],
    ),
    FunctionSpec::new(
        "lists",
        "list_max(items: list<O>) -> O?",
        "The greatest item; null for an empty list.",
        &[("list_max([2, 7, 5])", "7")],
    ),
    FunctionSpec::new(
        "lists",
        "list_min(items: list<O>) -> O?",
        "The smallest item; null for an empty list.",
        &[("list_min([2, 7, 5])", "2")],
    ),
    FunctionSpec::new(
        "lists",
        "range(start: int64, end: int64) -> list<int64>",
        "The whole numbers from `start` to the one before `end`; none where `end` is not above `start`. More than a million are an \
         error.",
        &[("range(2, 5)", "[2, 3, 4]")],
    )
    .fallible(),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::value::EvalError;
    use crate::value::compare::Compare;

    /// One row must not take all memory.
    const LONGEST_RANGE: i128 = 1_000_000;

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

    /// The items in ascending order.
    pub fn list_sort<T: Clone + Compare>(items: &[T]) -> Vec<T> {
        let mut sorted = items.to_vec();
        sorted.sort_by(T::compare);
        sorted
    }

    /// The items in reverse order.
    pub fn list_reverse<T: Clone>(items: &[T]) -> Vec<T> {
        items.iter().rev().cloned().collect()
    }

    /// The items without repetitions.
    pub fn list_distinct<T: Clone + Compare>(items: &[T]) -> Vec<T> {
        // The first of equals comes first in a stable order; what follows it is a repetition.
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_by(|a, b| items[*a].compare(&items[*b]));
        let mut firsts: Vec<usize> = Vec::with_capacity(order.len());
        for index in order {
            if firsts.last().is_none_or(|last| !items[*last].same(&items[index])) {
                firsts.push(index);
            }
        }
        firsts.sort_unstable();
        firsts.into_iter().map(|index| items[index].clone()).collect()
    }

    /// Part of a list.
    pub fn list_slice<T: Clone>(items: &[T], start: i64, length: Option<i64>) -> Vec<T> {
        let count = items.len() as i64;
        let start = if start < 0 { start.saturating_add(count) } else { start };
        let end = length.map_or(count, |length| start.saturating_add(length.max(0)));
        let (from, to) = (start.clamp(0, count) as usize, end.clamp(0, count) as usize);
        items.get(from..to).map(<[T]>::to_vec).unwrap_or_default()
    }

    /// The items of both lists.
    pub fn list_concat<T: Clone>(first: &[T], second: &[T]) -> Vec<T> {
        [first, second].concat()
    }

    /// The position of a value.
    pub fn list_index_of<T: Compare<V>, V>(items: &[T], value: V) -> Option<i64> {
        items.iter().position(|item| item.same(&value)).map(|index| index as i64)
    }

    /// The greatest item.
    pub fn list_max<T: Clone + Compare>(items: &[T]) -> Option<T> {
        items.iter().max_by(|a, b| a.compare(b)).cloned()
    }

    /// The smallest item.
    pub fn list_min<T: Clone + Compare>(items: &[T]) -> Option<T> {
        items.iter().min_by(|a, b| a.compare(b)).cloned()
    }

    /// Whole numbers in sequence.
    pub fn range(start: i64, end: i64) -> Result<Vec<i64>, EvalError> {
        if i128::from(end) - i128::from(start) > LONGEST_RANGE {
            return Err(EvalError::new(format!("the range from {start} to {end} has more than {LONGEST_RANGE} numbers")));
        }
        Ok((start..end).collect())
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::value::Str;

        #[test]
        fn items_are_found() {
            assert!(list_contains(&[Str::from("a")], "a") && !list_contains(&[1], 2) && list_contains(&[f64::NAN], f64::NAN));
            assert_eq!((list_length(&[1, 2]), list_index_of(&[Str::from("a"), Str::from("b")], "b")), (2, Some(1)));
            assert_eq!((list_max(&[2, 7, 5]), list_min(&[2, 7, 5]), list_max::<i64>(&[])), (Some(7), Some(2), None));
        }

        #[test]
        fn lists_are_ordered() {
            assert_eq!(list_sort(&[3, 1, 2]), [1, 2, 3]);
            let sorted = list_sort(&[f64::NAN, 1.0, f64::NEG_INFINITY]);
            assert!(sorted[0] == f64::NEG_INFINITY && sorted[2].is_nan());
            assert_eq!(list_distinct(&["b", "a", "b", "c", "a"]), ["b", "a", "c"]);
            assert_eq!(list_distinct(&[f64::NAN, -0.0, f64::NAN, 0.0]).len(), 2);
            assert_eq!(list_reverse(&[1, 2]), [2, 1]);
        }

        #[test]
        fn parts_of_lists() {
            let items = [1, 2, 3, 4];
            for (start, length, expected) in [
                (1, Some(2), &[2, 3][..]),
                (-1, None, &[4]),
                (-9, Some(6), &[1]),
                (9, None, &[]),
                (0, Some(-1), &[]),
                (2, Some(i64::MAX), &[3, 4]),
                (i64::MIN, Some(i64::MAX), &[1, 2, 3]),
            ] {
                assert_eq!(list_slice(&items, start, length), expected, "{start} {length:?}");
            }
            assert_eq!(list_concat(&[1, 2], &[3]), [1, 2, 3]);
            assert_eq!((range(2, 5), range(5, 2)), (Ok(vec![2, 3, 4]), Ok(vec![])));
            assert!(range(i64::MIN, i64::MAX).is_err() && range(i64::MAX - 1, i64::MAX).is_ok());
        }
    }
}
