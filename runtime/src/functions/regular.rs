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
        "The text with all matches of the pattern replaced. In the replacement `$1` is what the first group holds, `${name}` what \
         the group of this name holds, `$0` the whole match, and `$$` a dollar sign; an error if the pattern has no such group.",
        &[("regex_replace(\"2026-03\", r\"(\\d+)-(\\d+)\", \"$2/$1\")", "\"03/2026\""), ("regex_replace(\"a1b22\", r\"\\d+\", \"<$0>\")", "\"a<1>b<22>\"")],
    )
    .fallible(),
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
    fn no_group(pattern: &Regex, group: impl std::fmt::Display) -> EvalError {
        let last = pattern.0.captures_len() - 1;
        EvalError::new(format!("the pattern `{}` has no group {group}: its groups are 0 to {last}", pattern.0.as_str()))
    }

    /// All matches of the pattern.
    pub fn regex_extract_all(text: &str, pattern: &Regex) -> Vec<Str> {
        pattern.0.find_iter(text).map(|found| found.as_str().into()).collect()
    }

    /// All matches replaced.
    pub fn regex_replace(text: &str, pattern: &Regex, by: &str) -> Result<Str, EvalError> {
        let Some(dollar) = by.find('$') else { return Ok(pattern.0.replace_all(text, regex::NoExpand(by)).into()) };
        let (mut out, mut end) = (Str::with_capacity(text.len()), 0);
        for found in pattern.0.captures_iter(text) {
            let Some(whole) = found.get(0) else { continue };
            out.push_str(&text[end..whole.start()]);
            end = whole.end();
            out.push_str(&by[..dollar]);
            let mut rest = &by[dollar..];
            while let Some(at) = rest.find('$') {
                out.push_str(&rest[..at]);
                let (group, after) = reference(pattern, by, &rest[at + 1..])?;
                match group {
                    None => out.push('$'),
                    Some(group) => out.push_str(found.get(group).map_or("", |part| part.as_str())),
                }
                rest = after;
            }
            out.push_str(rest);
        }
        out.push_str(&text[end..]);
        Ok(out)
    }

    /// Reads what stands behind a dollar sign: the number of a group, or None for a second dollar sign; and what follows.
    fn reference<'a>(pattern: &Regex, by: &str, text: &'a str) -> Result<(Option<usize>, &'a str), EvalError> {
        if let Some(rest) = text.strip_prefix('$') {
            return Ok((None, rest));
        }
        let (name, rest) = match text.strip_prefix('{') {
            Some(inside) => inside.split_once('}').ok_or_else(|| bad_reference(by))?,
            None => text.split_at(text.bytes().take_while(u8::is_ascii_digit).count()),
        };
        if name.is_empty() {
            return Err(bad_reference(by));
        }
        let group = match name.parse::<usize>() {
            Ok(number) => Some(number).filter(|number| *number < pattern.0.captures_len()),
            Err(_) => pattern.0.capture_names().position(|own| own == Some(name)),
        };
        Ok((Some(group.ok_or_else(|| no_group(pattern, name))?), rest))
    }

    #[cold]
    fn bad_reference(by: &str) -> EvalError {
        EvalError::new(format!(
            "the replacement `{by}` has a `$` that names no group: write `$1`, `${{name}}`, or `$$` for a dollar sign"
        ))
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
        assert_eq!(regex_split("it's, a test", &Regex::literal("[^a-z']+")), ["it's", "a", "test"]);
        assert_eq!(regex_split("", &digits), [""]);
        assert!(regex_match("a1", &digits));
    }

    #[test]
    fn replacements_name_groups() {
        let date = Regex::literal(r"(?<year>\d+)-(\d+)(x)?");
        for (by, expected) in [
            ("$2/$1", "on 03/2026!"),
            ("${year}a", "on 2026a!"),
            ("$1a", "on 2026a!"),
            ("[$0]$$3", "on [2026-03]$3!"),
            ("${3}", "on !"),
            ("é", "on é!"),
        ] {
            assert_eq!(regex_replace("on 2026-03!", &date, by).unwrap(), expected, "{by}");
        }
        for by in ["$4", "${month}", "$", "$a", "${1", "${}"] {
            assert!(regex_replace("2026-03", &date, by).is_err(), "{by}");
        }
        assert_eq!(regex_replace("aaa", &Regex::literal("b*"), "-").unwrap(), "-a-a-a-");
        assert_eq!(regex_replace("aaa", &Regex::literal("b*"), "-$0").unwrap(), "-a-a-a-");
    }
}
