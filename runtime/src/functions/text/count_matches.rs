//! `count_matches`.

use super::FunctionSpec;

pub(super) const SPEC: FunctionSpec = FunctionSpec {
    name: "count_matches",
    category: "text",
    signature: "count_matches(text: string, part: string) -> int64",
    fallible: false,
    doc: "How often `part` stands in the text. Places do not overlap; an empty `part` counts 0.",
    examples: &[
        (r#"count_matches("banana", "a")"#, "3"),
        (r#"count_matches("aaaa", "aa")"#, "2"),
        (r#"count_matches("ab", "")"#, "0"),
    ],
};

/// `count_matches(text, part)`
#[cfg(feature = "engine")]
#[inline]
pub fn count_matches(text: &str, part: &str) -> i64 {
    match part.as_bytes() {
        [] => 0,
        [byte] => memchr::memchr_iter(*byte, text.as_bytes()).count() as i64,
        part => memchr::memmem::find_iter(text.as_bytes(), part).count() as i64,
    }
}

#[cfg(all(test, feature = "engine"))]
mod tests {
    use super::*;

    #[test]
    fn places_do_not_overlap() {
        assert_eq!(count_matches("banana", "a"), 3);
        assert_eq!(count_matches("banana", "ana"), 1);
        assert_eq!(count_matches("ééé", "é"), 3);
        assert_eq!((count_matches("abc", ""), count_matches("", "a")), (0, 0));
    }
}
