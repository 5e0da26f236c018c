//! Comparing rows without their order.

use std::collections::BTreeMap;

use crate::claims::Delivery;

/// Differences shown of each kind.
const SHOWN: usize = 5;

/// What is wrong with `found`; None: it is as it should be. Expected rows are all different.
pub(crate) fn difference(expected: &[String], found: &[String], delivery: Delivery) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = expected.iter().map(|row| (row.as_str(), 0)).collect();
    assert_eq!(counts.len(), expected.len(), "the context made the same row twice: the kit needs rows that are all different");
    let mut unexpected = Vec::new();
    for row in found {
        match counts.get_mut(row.as_str()) {
            Some(count) => *count += 1,
            None => unexpected.push(row.as_str()),
        }
    }
    let missing: Vec<_> = counts.iter().filter(|(_, count)| **count == 0).map(|(row, _)| *row).collect();
    let repeated: Vec<_> = counts.iter().filter(|(_, count)| **count > 1).map(|(row, _)| *row).collect();
    let mut problems = vec![("that nobody wrote", unexpected)];
    if delivery != Delivery::AtLeastOnce {
        problems.push(("that came more than once", repeated));
    }
    if delivery != Delivery::AtMostOnce {
        problems.push(("that did not come", missing));
    }
    problems.retain(|(_, rows)| !rows.is_empty());
    if problems.is_empty() {
        return None;
    }
    let mut text = format!("{} rows came, {} were expected", found.len(), expected.len());
    for (what, rows) in problems {
        text.push_str(&format!("\n  {} rows {what}: {}", rows.len(), rows[..rows.len().min(SHOWN)].join(", ")));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&str]) -> Vec<String> {
        rows.iter().map(|&row| row.to_owned()).collect()
    }

    #[test]
    fn each_delivery_refuses_what_it_must() {
        use Delivery::{AtLeastOnce, AtMostOnce, ExactlyOnce};
        let expected = rows(&["a", "b"]);
        let cases: [(&[&str], [bool; 3]); 4] = [
            (&["b", "a"], [true, true, true]),
            (&["a", "b", "a"], [false, true, false]),
            (&["a"], [false, false, true]),
            (&["a", "b", "c"], [false, false, false]),
        ];
        for (found, good) in cases {
            for (delivery, good) in [ExactlyOnce, AtLeastOnce, AtMostOnce].into_iter().zip(good) {
                assert_eq!(difference(&expected, &rows(found), delivery).is_none(), good, "{found:?} for {delivery:?}");
            }
        }
        let text = difference(&expected, &rows(&["a", "a", "c"]), ExactlyOnce).unwrap();
        for part in ["1 rows that nobody wrote: c", "1 rows that came more than once: a", "1 rows that did not come: b"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
