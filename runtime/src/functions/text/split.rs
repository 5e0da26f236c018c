//! `split_index`.

#[cfg(feature = "engine")]
use crate::value::Str;

use super::FunctionSpec;

pub(super) const INDEX: FunctionSpec = FunctionSpec {
    name: "split_index",
    category: "text",
    signature: "split_index(text: string, separator: string, index: int64) -> string?",
    fallible: false,
    doc: "The part of the text with this number, from 0, where `separator` cuts it. Null where there is no such part. An empty \
          `separator` cuts nothing.",
    examples: &[
        (r#"split_index("a/b/c", "/", 1)"#, r#""b""#),
        (r#"split_index("a//c", "/", 1)"#, r#""""#),
        (r#"split_index("a/b", "/", 2)"#, "null"),
        (r#"split_index("a/b", "/", -1)"#, "null"),
    ],
};

/// `split_index(text, separator, index)`
#[cfg(feature = "engine")]
#[inline]
pub fn split_index(text: &str, separator: &str, index: i64) -> Option<Str> {
    let index = usize::try_from(index).ok()?;
    if separator.is_empty() {
        return (index == 0).then(|| Str::from(text));
    }
    text.split(separator).nth(index).map(Str::from)
}

#[cfg(all(test, feature = "engine"))]
mod tests {
    use super::*;

    #[test]
    fn parts_by_number() {
        assert_eq!(split_index("https://a/b", "/", 1).as_deref(), Some(""));
        assert_eq!(split_index("https://a/b", "/", 3).as_deref(), Some("b"));
        assert_eq!(split_index("https://a/b", "/", 4), None);
        assert_eq!(split_index("aéb", "é", 1).as_deref(), Some("b"));
        assert_eq!((split_index("ab", "", 0).as_deref(), split_index("ab", "", 1)), (Some("ab"), None));
        assert_eq!((split_index("ab", "b", i64::MIN), split_index("", "b", 0).as_deref()), (None, Some("")));
    }
}
