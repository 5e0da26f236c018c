//! `regex_match`, `regex_extract`, `regex_extract_all`, `regex_replace`, `regex_split`, `regex_count`

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new(
        "regex",
        "regex_match(text: string, pattern: regex) -> bool",
        "Whether the pattern is found anywhere in the text. The same as `text matches pattern`.",
        &[("regex_match(\"a1\", r\"\\d\")", "true")],
    ),
    FunctionSpec::new(
        "regex",
        "regex_extract(text: string, pattern: regex, group?: int64) -> string?",
        "The first match of the pattern, or of one of its groups (in parentheses, counted from 1; 0 is the whole). Null where \
         there is none or the group takes no part; an error if the pattern has no such group.",
        &[("regex_extract(\"a=1&id=7\", r\"(&|^)id=([^&]*)\", 2)", "\"7\""), ("regex_extract(\"abc\", r\"\\d+\")", "null")],
    )
    .fallible(),
    FunctionSpec::new(
        "regex",
        "regex_extract_all(text: string, pattern: regex) -> list<string>",
        "All matches of the pattern, without overlaps.",
        &[("regex_extract_all(\"1 and 22\", r\"\\d+\")", "[\"1\", \"22\"]")],
    ),
    FunctionSpec::new(
        "regex",
        "regex_replace(text: string, pattern: regex, by: string) -> string",
        "The text with all matches of the pattern replaced. In the replacement `$1` or `${1}` is a group, `$$` is a dollar sign.",
        &[("regex_replace(\"2026-03\", r\"(\\d+)-(\\d+)\", \"$2/$1\")", "\"03/2026\"")],
    ),
    FunctionSpec::new(
        "regex",
        "regex_split(text: string, pattern: regex) -> list<string>",
        "The parts of the text between the matches of the pattern, empty ones too.",
        &[("regex_split(\"a, b;c\", r\"[,;] *\")", "[\"a\", \"b\", \"c\"]")],
    ),
    FunctionSpec::new(
        "regex",
        "regex_count(text: string, pattern: regex) -> int64",
        "The number of matches of the pattern, without overlaps.",
        &[("regex_count(\"a1b22\", r\"\\d+\")", "2")],
    ),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::value::{EvalError, Regex, Str};

    /// Whether the pattern is found.
    pub fn regex_match(text: &str, pattern: &Regex) -> bool {
        pattern.is_match(text)
    }

    /// The first match of the pattern or of a group.
    pub fn regex_extract(text: &str, pattern: &Regex, group: Option<i64>) -> Result<Option<Str>, EvalError> {
        match group.unwrap_or(0) {
            0 => Ok(pattern.0.find(text).map(|found| found.as_str().into())),
            group => {
                let known = usize::try_from(group).ok().filter(|group| *group < pattern.0.captures_len());
                let index = known.ok_or_else(|| no_group(pattern, group))?;
                Ok(pattern.0.captures(text).and_then(|found| found.get(index).map(|part| part.as_str().into())))
            }
        }
    }

    #[cold]
    fn no_group(pattern: &Regex, group: i64) -> EvalError {
        let last = pattern.0.captures_len() - 1;
        EvalError::new(format!("the pattern `{}` has no group {group}: its groups are 0 to {last}", pattern.0.as_str()))
    }

    /// All matches of the pattern.
    pub fn regex_extract_all(text: &str, pattern: &Regex) -> Vec<Str> {
        pattern.0.find_iter(text).map(|found| found.as_str().into()).collect()
    }

    /// All matches replaced.
    pub fn regex_replace(text: &str, pattern: &Regex, by: &str) -> Str {
        pattern.0.replace_all(text, by).into()
    }

    /// The parts between matches.
    pub fn regex_split(text: &str, pattern: &Regex) -> Vec<Str> {
        pattern.0.split(text).map(Str::from).collect()
    }

    /// The number of matches.
    pub fn regex_count(text: &str, pattern: &Regex) -> i64 {
        pattern.0.find_iter(text).count() as i64
    }

    #[test]
    fn matches_and_groups() {
        let channel = Regex::literal("(&|^)channel_id=([^&]*)");
        let extract = |text, group| regex_extract(text, &channel, group).unwrap();
        assert_eq!(extract("https://x/item.htm?query=1&channel_id=1461977088", Some(2)).unwrap(), "1461977088");
        assert_eq!(extract("https://x/item.htm?query=1", Some(2)), None);
        assert_eq!(extract("channel_id=5&a", Some(2)).unwrap(), "5");
        assert_eq!(extract("x&channel_id=5", None).unwrap(), "&channel_id=5");
        let error = regex_extract("x", &channel, Some(9)).unwrap_err();
        assert_eq!(error.reason(), "the pattern `(&|^)channel_id=([^&]*)` has no group 9: its groups are 0 to 2");
        assert!(regex_extract("x", &channel, Some(-1)).is_err());
        let digits = Regex::literal(r"\d+");
        assert_eq!(regex_count("a1b22", &digits), 2);
        assert_eq!(regex_extract_all("1 and 22", &digits), ["1", "22"]);
        assert_eq!(regex_replace("2026-03", &Regex::literal(r"(\d+)-(\d+)"), "$2/$1"), "03/2026");
        assert_eq!(regex_split("it's, a test", &Regex::literal("[^a-z']+")), ["it's", "a", "test"]);
        assert_eq!(regex_split("", &digits), [""]);
        assert!(regex_match("a1", &digits));
    }
}
