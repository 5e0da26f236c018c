//! `lower`, `upper`.

#[cfg(feature = "engine")]
use crate::value::Str;

use super::FunctionSpec;

pub(super) const LOWER: FunctionSpec = FunctionSpec {
    name: "lower",
    category: "text",
    signature: "lower(text: string) -> string",
    fallible: false,
    doc: "The text in lower case, by Unicode's rules, whatever the language.",
    examples: &[(r#"lower("Straße ÉTÉ")"#, r#""straße été""#)],
};

pub(super) const UPPER: FunctionSpec = FunctionSpec {
    name: "upper",
    category: "text",
    signature: "upper(text: string) -> string",
    fallible: false,
    doc: "The text in upper case, by Unicode's rules, whatever the language. It can get longer: `ß` becomes `SS`.",
    examples: &[(r#"upper("Straße été")"#, r#""STRASSE ÉTÉ""#)],
};

/// `lower(text)`
#[cfg(feature = "engine")]
#[inline]
pub fn lower(text: &str) -> Str {
    if text.is_ascii() {
        let mut out = Str::from(text);
        out.make_ascii_lowercase();
        return out;
    }
    // The form of `Σ` depends on what stands around it, so the whole text is turned at once.
    Str::from(text.to_lowercase())
}

/// `upper(text)`
#[cfg(feature = "engine")]
#[inline]
pub fn upper(text: &str) -> Str {
    if text.is_ascii() {
        let mut out = Str::from(text);
        out.make_ascii_uppercase();
        return out;
    }
    Str::from(text.to_uppercase())
}

#[cfg(all(test, feature = "engine"))]
mod tests {
    use super::*;

    #[test]
    fn case_follows_unicode() {
        assert_eq!(lower("ABC xyz"), "abc xyz");
        assert_eq!(lower("ΟΔΟΣ"), "οδος");
        assert_eq!(upper("straße é"), "STRASSE É");
    }
}
