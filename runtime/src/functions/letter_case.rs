//! `lower`, `upper`, `initcap`

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new(
        "text",
        "lower(text: string) -> string",
        "The text in lower case, by the rules of Unicode.",
        &[("lower(\"ÄPPLE\")", "\"äpple\"")],
    ),
    FunctionSpec::new(
        "text",
        "upper(text: string) -> string",
        "The text in upper case, by the rules of Unicode.",
        &[("upper(\"straße\")", "\"STRASSE\"")],
    ),
    FunctionSpec::new(
        "text",
        "initcap(text: string) -> string",
        "The text with the first letter of each word in upper case and the others in lower case. Words are letters and digits.",
        &[("initcap(\"new YORK-city\")", "\"New York-City\"")],
    ),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::value::Str;

    /// The text in lower case.
    pub fn lower(text: &str) -> Str {
        if text.is_ascii() {
            let mut out = Str::from(text);
            out.make_ascii_lowercase();
            return out;
        }
        text.to_lowercase().into()
    }

    /// The text in upper case.
    pub fn upper(text: &str) -> Str {
        if text.is_ascii() {
            let mut out = Str::from(text);
            out.make_ascii_uppercase();
            return out;
        }
        text.to_uppercase().into()
    }

    /// The first letter of each word in upper case, the others in lower case.
    pub fn initcap(text: &str) -> Str {
        let mut out = Str::with_capacity(text.len());
        let mut inside = false;
        for c in text.chars() {
            if inside {
                out.extend(c.to_lowercase());
            } else {
                out.extend(c.to_uppercase());
            }
            inside = c.is_alphanumeric();
        }
        out
    }

    #[test]
    fn letters_of_all_alphabets() {
        assert_eq!(lower("Apple ÄΣ"), "apple äς");
        assert_eq!(upper("straße"), "STRASSE");
        assert_eq!(initcap("new YORK-city 3rd"), "New York-City 3rd");
    }
}
