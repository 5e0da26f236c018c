//! `trim`, `ltrim`, `rtrim`

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new(
        "text",
        "trim(text: string, characters?: string) -> string",
        "The text without white space (or these characters) at both ends.",
        &[("trim(\"  a b \")", "\"a b\""), ("trim(\"xyaxy\", \"xy\")", "\"a\"")],
    ),
    FunctionSpec::new(
        "text",
        "ltrim(text: string, characters?: string) -> string",
        "The text without white space (or these characters) at its start.",
        &[("ltrim(\"007\", \"0\")", "\"7\"")],
    ),
    FunctionSpec::new(
        "text",
        "rtrim(text: string, characters?: string) -> string",
        "The text without white space (or these characters) at its end.",
        &[("rtrim(\"a  \")", "\"a\"")],
    ),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::value::Str;

    fn drops(characters: Option<&str>) -> impl Fn(char) -> bool + '_ {
        move |c| characters.map_or(c.is_whitespace(), |characters| characters.contains(c))
    }

    /// Without white space, or these characters, at both ends.
    pub fn trim(text: &str, characters: Option<&str>) -> Str {
        text.trim_start_matches(drops(characters)).trim_end_matches(drops(characters)).into()
    }

    /// Without white space, or these characters, at the start.
    pub fn ltrim(text: &str, characters: Option<&str>) -> Str {
        text.trim_start_matches(drops(characters)).into()
    }

    /// Without white space, or these characters, at the end.
    pub fn rtrim(text: &str, characters: Option<&str>) -> Str {
        text.trim_end_matches(drops(characters)).into()
    }

    #[test]
    fn ends_only() {
        assert_eq!(trim("\t a b\u{a0}", None), "a b");
        assert_eq!(trim("xyaxbxy", Some("xy")), "axb");
        assert_eq!((ltrim("007", Some("0")).as_str(), rtrim("a  ", None).as_str(), trim("  ", None).as_str()), ("7", "a", ""));
    }
}
