//! `contains`, `starts_with`, `ends_with`, `index_of`, `count_matches`, `replace`

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new(
        "text",
        "contains(text: string, part: string) -> bool",
        "Whether the part stands anywhere in the text.",
        &[("contains(\"stream\", \"rea\")", "true")],
    ),
    FunctionSpec::new(
        "text",
        "starts_with(text: string, part: string) -> bool",
        "Whether the text starts with the part.",
        &[("starts_with(\"stream\", \"str\")", "true")],
    ),
    FunctionSpec::new(
        "text",
        "ends_with(text: string, part: string) -> bool",
        "Whether the text ends with the part.",
        &[("ends_with(\"stream\", \"str\")", "false")],
    ),
    FunctionSpec::new(
        "text",
        "index_of(text: string, part: string) -> int64?",
        "The position of the first character of the part, counted from 0; null where it does not occur.",
        &[("index_of(\"Größe\", \"ß\")", "3"), ("index_of(\"a\", \"b\")", "null")],
    ),
    FunctionSpec::new(
        "text",
        "count_matches(text: string, part: string) -> int64",
        "How often the part occurs, without overlaps. An empty part occurs nowhere.",
        &[("count_matches(\"banana\", \"an\")", "2"), ("count_matches(\"banana\", \"a\")", "3")],
    ),
    FunctionSpec::new(
        "text",
        "replace(text: string, part: string, by: string) -> string",
        "The text with every occurrence of the part replaced.",
        &[("replace(\"a-b-c\", \"-\", \"+\")", "\"a+b+c\"")],
    ),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::value::Str;

    /// Whether the part stands anywhere in the text.
    pub fn contains(text: &str, part: &str) -> bool {
        text.contains(part)
    }

    /// Whether the text starts with the part.
    pub fn starts_with(text: &str, part: &str) -> bool {
        text.starts_with(part)
    }

    /// Whether the text ends with the part.
    pub fn ends_with(text: &str, part: &str) -> bool {
        text.ends_with(part)
    }

    /// The position of the part.
    pub fn index_of(text: &str, part: &str) -> Option<i64> {
        text.find(part).map(|at| text[..at].chars().count() as i64)
    }

    /// How often the part occurs.
    pub fn count_matches(text: &str, part: &str) -> i64 {
        match part.as_bytes() {
            [] => 0,
            [byte] => memchr::memchr_iter(*byte, text.as_bytes()).count() as i64,
            _ => text.matches(part).count() as i64,
        }
    }

    /// Every occurrence of the part replaced.
    pub fn replace(text: &str, part: &str, by: &str) -> Str {
        if part.is_empty() { text.into() } else { text.replace(part, by).into() }
    }

    #[test]
    fn parts_of_texts() {
        assert!(contains("stream", "") && !contains("", "a") && starts_with("ab", "a") && ends_with("ab", "b"));
        assert_eq!((index_of("Größe", "ß"), index_of("a", "b"), index_of("a", "")), (Some(3), None, Some(0)));
        assert_eq!(
            [count_matches("banana", "ana"), count_matches("banana", "a"), count_matches("ßaß", "ß"), count_matches("a", "")],
            [1, 3, 2, 0]
        );
        assert_eq!((replace("a-b", "-", "++").as_str(), replace("ab", "", "x").as_str()), ("a++b", "ab"));
    }
}
