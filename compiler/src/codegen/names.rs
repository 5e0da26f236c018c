//! Names of generated code: from the text, and safe in Rust.
//!
//! Whatever a name holds (keywords, spaces, any script, nothing at all), the identifier made of it is plain ASCII in the
//! style that rustc expects, so that generated code compiles without a warning. Two names that come out alike are told
//! apart by a number, in the order in which they are asked for.

use std::collections::HashSet;

use proc_macro2::{Ident, Span};

/// Words that no identifier may be. (Raw identifiers would serve for most; a plain `type_` reads as well everywhere.)
const KEYWORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type",
    "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Types that `types.rs` names without a path: a record called so gets another name.
const TYPES: &[&str] = &[
    "Box",
    "Change",
    "Clone",
    "Copy",
    "Date",
    "Debug",
    "Decimal",
    "Default",
    "Drop",
    "Duration",
    "Err",
    "Eq",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "Hash",
    "Into",
    "Iterator",
    "Json",
    "Key",
    "Map",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Record",
    "Result",
    "Send",
    "Sized",
    "Some",
    "State",
    "Str",
    "String",
    "Sync",
    "Time",
    "Timestamp",
    "ToString",
    "Uuid",
    "Vec",
];

/// Identifiers of one scope (a struct's fields, a module's items), each once.
#[derive(Default)]
pub(super) struct Scope {
    taken: HashSet<String>,
}

impl Scope {
    /// A scope in which these are taken already.
    pub(super) fn with(taken: &[&str]) -> Self {
        Scope { taken: taken.iter().map(|name| name.to_string()).collect() }
    }

    /// A field, variable, function or module: `dateTime` becomes `date_time`.
    pub(super) fn value(&mut self, name: &str) -> Ident {
        self.unique(snake(name), "_")
    }

    /// A type: `flight delays` becomes `FlightDelays`.
    pub(super) fn type_name(&mut self, name: &str) -> Ident {
        let mut pascal = pascal(name);
        if TYPES.contains(&pascal.as_str()) {
            pascal.push_str("Row");
        }
        self.unique(pascal, "")
    }

    fn unique(&mut self, name: String, separator: &str) -> Ident {
        let mut candidate = name.clone();
        let mut number = 2;
        while !self.taken.insert(candidate.clone()) {
            candidate = format!("{name}{separator}{number}");
            number += 1;
        }
        ident(&candidate)
    }
}

/// An identifier that is known to be one.
pub(super) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// A plain name for packages and files: ASCII letters, digits and underscores, starting with a letter.
pub fn package(name: &str) -> String {
    let snake = snake(name);
    let trimmed = snake.trim_matches('_');
    match trimmed.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => trimmed.to_string(),
        _ => format!("job_{trimmed}"),
    }
}

/// Words of a name: split at everything that is no letter or digit, and where a capital follows a small letter.
/// Characters outside ASCII become their code point in hexadecimal.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower_before = false;
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            if c.is_ascii_uppercase() && lower_before {
                words.push(String::new());
            }
            lower_before = !c.is_ascii_uppercase();
            if let Some(word) = words.last_mut() {
                word.push(c);
            }
        } else if c.is_ascii() {
            lower_before = false;
            words.push(String::new());
        } else {
            lower_before = false;
            words.push(format!("u{:x}", c as u32));
            words.push(String::new());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn snake(name: &str) -> String {
    let joined = words(name).iter().map(|word| word.to_ascii_lowercase()).collect::<Vec<_>>().join("_");
    if joined.is_empty() {
        return if name.is_empty() { "empty".into() } else { "unnamed".into() };
    }
    if joined.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("n{joined}");
    }
    if KEYWORDS.contains(&joined.as_str()) { format!("{joined}_") } else { joined }
}

fn pascal(name: &str) -> String {
    let mut pascal = String::new();
    for word in words(name) {
        let mut chars = word.chars();
        if let Some(first) = chars.next() {
            pascal.push(first.to_ascii_uppercase());
            pascal.extend(chars);
        }
    }
    if !pascal.starts_with(|c: char| c.is_ascii_alphabetic()) {
        pascal.insert(0, 'T');
    }
    if KEYWORDS.contains(&pascal.as_str()) { format!("{pascal}Row") } else { pascal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_become_distinct_plain_identifiers() {
        let names = [
            "order",
            "from",
            "window",
            "a-b",
            "a.b",
            "a_b",
            "",
            "数量",
            "\u{e9}",
            "e\u{301}",
            "type",
            "self",
            "_",
            "1x",
            "select ",
            "select",
            "na\u{ef}ve\nname",
            "dateTime",
            "date_time",
            "async",
            "gen",
            "ID",
            "Self",
        ];
        let mut scope = Scope::default();
        let idents: Vec<String> = names.iter().map(|name| scope.value(name).to_string()).collect();
        assert_eq!(
            idents,
            [
                "order",
                "from",
                "window",
                "a_b",
                "a_b_2",
                "a_b_3",
                "empty",
                "u6570_u91cf",
                "ue9",
                "e_u301",
                "type_",
                "self_",
                "unnamed",
                "n1x",
                "select",
                "select_2",
                "na_uef_ve_name",
                "date_time",
                "date_time_2",
                "async_",
                "gen_",
                "id",
                "self__2"
            ]
        );
        for ident in idents {
            assert!(syn::parse_str::<Ident>(&ident).is_ok(), "{ident} is no identifier");
        }
    }

    #[test]
    fn types_avoid_the_names_that_types_rs_uses() {
        let mut scope = Scope::default();
        let names: Vec<String> = ["delays", "flight delays", "Option", "str", "self", "1x", "", "Bid", "bid"]
            .iter()
            .map(|name| scope.type_name(name).to_string())
            .collect();
        assert_eq!(names, ["Delays", "FlightDelays", "OptionRow", "StrRow", "SelfRow", "T1x", "T", "Bid", "Bid2"]);
    }

    #[test]
    fn package_names_are_plain() {
        assert_eq!(package("flight_delays"), "flight_delays");
        assert_eq!(package("数量"), "u6570_u91cf");
        assert_eq!(package("1x"), "n1x");
        assert_eq!(package(""), "empty");
    }
}
