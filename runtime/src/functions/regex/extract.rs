//! `regex_extract`.

#[cfg(feature = "engine")]
use crate::value::{EvalError, Regex, Str};

use super::FunctionSpec;

pub(super) const SPEC: FunctionSpec = FunctionSpec {
    name: "regex_extract",
    category: "regex",
    signature: "regex_extract(text: string, pattern: regex, group?: int64) -> string?",
    fallible: true,
    doc: "What the group of this number holds where the pattern is found first. Group 0, the one without a number, is all of \
          what was found. Null where nothing is found or the group takes no part; an error if the pattern has no such group.",
    examples: &[
        (r#"regex_extract("id=42&x=7", r"x=(\d+)", 1)"#, r#""7""#),
        (r#"regex_extract("id=42&x=7", r"\d+")"#, r#""42""#),
        (r#"regex_extract("none", r"\d+")"#, "null"),
    ],
};

/// `regex_extract(text, pattern, group)`
#[cfg(feature = "engine")]
pub fn regex_extract(text: &str, pattern: &Regex, group: Option<i64>) -> Result<Option<Str>, EvalError> {
    match group {
        None | Some(0) => Ok(pattern.0.find(text).map(|found| Str::from(found.as_str()))),
        Some(group) => {
            let known = usize::try_from(group).ok().filter(|group| *group < pattern.0.captures_len());
            let Some(index) = known else { return Err(no_group(pattern, group)) };
            Ok(pattern.0.captures(text).and_then(|found| found.get(index).map(|part| Str::from(part.as_str()))))
        }
    }
}

#[cfg(feature = "engine")]
#[cold]
fn no_group(pattern: &Regex, group: i64) -> EvalError {
    let count = pattern.0.captures_len() - 1;
    EvalError::new(format!("the pattern `{}` has no group {group}: its groups are numbered 0 to {count}", pattern.0.as_str()))
}

#[cfg(all(test, feature = "engine"))]
mod tests {
    use super::*;

    #[test]
    fn groups_by_number() {
        let pattern = Regex::new("(&|^)channel_id=([^&]*)").unwrap();
        let url = "https://x/?a=1&channel_id=77&b=2";
        assert_eq!(regex_extract(url, &pattern, Some(2)).unwrap().as_deref(), Some("77"));
        assert_eq!(regex_extract(url, &pattern, None).unwrap().as_deref(), Some("&channel_id=77"));
        assert_eq!(regex_extract("https://x/", &pattern, Some(2)), Ok(None));
        let optional = Regex::new("a(b)?").unwrap();
        assert_eq!(regex_extract("a", &optional, Some(1)), Ok(None));
        let error = regex_extract("a", &optional, Some(2)).unwrap_err();
        assert_eq!(error.reason(), "the pattern `a(b)?` has no group 2: its groups are numbered 0 to 1");
        assert!(regex_extract("a", &optional, Some(-1)).is_err());
    }
}
