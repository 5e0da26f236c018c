//! Three-valued logic: null is "unknown".

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
    }
}
