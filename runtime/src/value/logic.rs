//! Three-valued logic: null is "unknown".

use super::compare::Compare;

/// `a and b`.
#[inline]
pub fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// `a or b`.
#[inline]
pub fn or(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

/// `not a`.
#[inline]
pub fn not(a: Option<bool>) -> Option<bool> {
    a.map(|a| !a)
}

/// `x in [a, b]` where some of them may be null: true if one is equal; else null if one is null; else false.
pub fn contains_or_null<T: Compare>(value: T, items: &[Option<T>]) -> Option<bool> {
    let mut result = Some(false);
    for item in items {
        match item {
            Some(item) if item.same(&value) => return Some(true),
            Some(_) => {}
            None => result = None,
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_decides_only_where_it_must() {
        assert_eq!(and(None, Some(false)), Some(false));
        assert_eq!(and(None, Some(true)), None);
        assert_eq!(or(Some(true), None), Some(true));
        assert_eq!(or(None, Some(false)), None);
        assert_eq!(not(None), None);
        assert_eq!(contains_or_null(1, &[None, Some(1)]), Some(true));
        assert_eq!(contains_or_null("a", &[None, Some("b")]), None);
        assert_eq!(contains_or_null(1, &[Some(2)]), Some(false));
    }
}
