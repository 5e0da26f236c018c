//! `concat`, `join`, `repeat`, `lpad`, `rpad`

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new("text", "concat(texts: string...) -> string", "The texts one after the other.", &[("concat(\"a\", \"b\", \"c\")", "\"abc\"")]),
    FunctionSpec::new("text", "join(texts: list<string>, separator: string) -> string", "The texts of a list with a separator between them.", &[("join([\"a\", \"b\"], \", \")", "\"a, b\"")]),
    FunctionSpec::new(
        "text",
        "repeat(text: string, count: int64) -> string",
        "The text `count` times. A negative count is 0; a result of more than 16 MB is an error.",
        &[("repeat(\"ab\", 3)", "\"ababab\"")],
    )
    .fallible(),
    FunctionSpec::new(
        "text",
        "lpad(text: string, length: int64, fill?: string) -> string",
        "The text made this many characters long, by filling its start with blanks (or this text) or by cutting off its end. More than 16 MB is an error.",
        &[("lpad(\"7\", 3, \"0\")", "\"007\""), ("lpad(\"abcd\", 2)", "\"ab\"")],
    )
    .fallible(),
    FunctionSpec::new(
        "text",
        "rpad(text: string, length: int64, fill?: string) -> string",
        "The text made this many characters long, by filling its end with blanks (or this text) or by cutting off its end. More than 16 MB is an error.",
        &[("rpad(\"7\", 3, \"ab\")", "\"7ab\"")],
    )
    .fallible(),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::value::{EvalError, Str};

    /// Texts longer than this are not made: one row must not take all memory.
    const LONGEST: usize = 16 << 20;

    /// The texts one after the other.
    pub fn concat(texts: &[&str]) -> Str {
        let mut out = Str::with_capacity(texts.iter().map(|text| text.len()).sum());
        texts.iter().for_each(|text| out.push_str(text));
        out
    }

    /// The texts with a separator between them.
    pub fn join(texts: &[Str], separator: &str) -> Str {
        let mut out = Str::default();
        for (index, text) in texts.iter().enumerate() {
            if index > 0 {
                out.push_str(separator);
            }
            out.push_str(text);
        }
        out
    }

    /// The text several times.
    pub fn repeat(text: &str, count: i64) -> Result<Str, EvalError> {
        let count = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
        match text.len().checked_mul(count) {
            Some(length) if length <= LONGEST => Ok(text.repeat(count).into()),
            _ => Err(EvalError::new("the result would be longer than 16 MB")),
        }
    }

    fn pad(text: &str, length: i64, fill: Option<&str>) -> Result<(Str, Str), EvalError> {
        let length = usize::try_from(length.max(0)).unwrap_or(usize::MAX);
        if length > LONGEST / 4 {
            return Err(EvalError::new("the result would be longer than 16 MB"));
        }
        let kept: Str = text.chars().take(length).collect();
        let missing = length - kept.chars().count();
        let filling = fill.unwrap_or(" ").chars().cycle().take(missing).collect();
        Ok((kept, filling))
    }

    /// The text made longer at its start, or cut off.
    pub fn lpad(text: &str, length: i64, fill: Option<&str>) -> Result<Str, EvalError> {
        let (kept, mut filling) = pad(text, length, fill)?;
        filling.push_str(&kept);
        Ok(filling)
    }

    /// The text made longer at its end, or cut off.
    pub fn rpad(text: &str, length: i64, fill: Option<&str>) -> Result<Str, EvalError> {
        let (mut kept, filling) = pad(text, length, fill)?;
        kept.push_str(&filling);
        Ok(kept)
    }

    #[test]
    fn longer_and_shorter() {
        assert_eq!(concat(&["a", "", "b"]), "ab");
        assert_eq!(join(&["a".into(), "b".into()], ", "), "a, b");
        assert_eq!((repeat("ab", 3).unwrap().as_str(), repeat("ab", -1).unwrap().as_str()), ("ababab", ""));
        assert!(repeat("ab", i64::MAX).is_err() && lpad("a", i64::MAX, None).is_err());
        assert_eq!(lpad("7", 3, Some("0")).unwrap(), "007");
        assert_eq!(lpad("ßbcd", 2, None).unwrap(), "ßb");
        assert_eq!(rpad("7", 4, Some("ab")).unwrap(), "7aba");
        assert_eq!(rpad("7", 4, Some("")).unwrap(), "7");
    }
}
