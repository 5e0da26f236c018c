//! `regex_split`.

#[cfg(feature = "engine")]
use crate::value::{Regex, Str};

use super::FunctionSpec;

pub(super) const SPEC: FunctionSpec = FunctionSpec {
    name: "regex_split",
    category: "regex",
    signature: "regex_split(text: string, pattern: regex) -> list<string>",
    fallible: false,
    doc: "The parts of the text between the places where the pattern is found. Parts can be empty: at the ends, and between \
          places next to each other.",
    examples: &[
        (r#"regex_split("a, b;c", r"[,;]\s*")"#, r#"["a", "b", "c"]"#),
        (r#"regex_split("to be.", r"[^a-z]+")"#, r#"["to", "be", ""]"#),
    ],
};

/// `regex_split(text, pattern)`
#[cfg(feature = "engine")]
pub fn regex_split(text: &str, pattern: &Regex) -> Vec<Str> {
    pattern.0.split(text).map(Str::from).collect()
}

#[cfg(all(test, feature = "engine"))]
mod tests {
    use super::*;

    #[test]
    fn empty_parts_stay() {
        let pattern = Regex::new("[^a-z']+").unwrap();
        assert_eq!(regex_split("to be, or", &pattern), ["to", "be", "or"]);
        assert_eq!(regex_split("...", &pattern), ["", ""]);
        assert_eq!(regex_split("", &pattern), [""]);
    }
}
