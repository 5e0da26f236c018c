//! `code_point`, `from_code_point`, `translate`

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new(
        "text",
        "code_point(text: string) -> int64?",
        "The Unicode number of the first character; null for an empty text.",
        &[("code_point(\"€5\")", "8364"), ("code_point(\"\")", "null")],
    ),
    FunctionSpec::new(
        "text",
        "from_code_point(number: int64) -> string?",
        "The character of this Unicode number; null where there is none.",
        &[("from_code_point(8364)", "\"€\""), ("from_code_point(-1)", "null")],
    ),
    FunctionSpec::new(
        "text",
        "translate(text: string, from: string, to: string) -> string",
        "The text with every character of `from` replaced by the one at the same place of `to`. Those that `to` is too short for are \
         dropped; of a character that stands in `from` twice the first place counts.",
        &[("translate(\"(0)30-1234\", \"()-\", \"[]\")", "\"[0]301234\"")],
    ),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::value::Str;

    /// The number of the first character.
    pub fn code_point(text: &str) -> Option<i64> {
        text.chars().next().map(|c| i64::from(u32::from(c)))
    }

    /// The character of a number.
    pub fn from_code_point(number: i64) -> Option<Str> {
        let c = char::from_u32(u32::try_from(number).ok()?)?;
        Some(Str::from(&*c.encode_utf8(&mut [0; 4])))
    }

    /// Characters replaced one by one.
    pub fn translate(text: &str, from: &str, to: &str) -> Str {
        let replaced = |c: char| match from.chars().position(|own| own == c) {
            None => Some(c),
            Some(place) => to.chars().nth(place),
        };
        text.chars().filter_map(replaced).collect()
    }

    #[test]
    fn characters_and_numbers() {
        assert_eq!((code_point("€5"), code_point("")), (Some(8364), None));
        assert_eq!(
            (from_code_point(8364).as_deref(), from_code_point(0xd800), from_code_point(1 << 40)),
            (Some("€"), None, None)
        );
        assert_eq!(translate("aéxa", "aéa", "bc"), "bcxb");
        assert_eq!((translate("ab", "", "x").as_str(), translate("ab", "ab", "").as_str()), ("ab", ""));
    }
}
