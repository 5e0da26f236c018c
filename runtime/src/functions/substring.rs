//! `length`, `substring`, `left`, `right`, `split`, `split_index`, `reverse`

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new(
        "text",
        "length(text: string) -> int64",
        "The number of characters (not bytes).",
        &[("length(\"Größe\")", "5")],
    ),
    FunctionSpec::new(
        "text",
        "byte_length(text: string) -> int64",
        "The number of bytes of the text in UTF-8.",
        &[("byte_length(\"Größe\")", "7")],
    ),
    FunctionSpec::new(
        "text",
        "substring(text: string, start: int64, length?: int64) -> string",
        "Part of a text: `length` characters from position `start`, or all from there.\n\nPositions count from 0; a negative one counts \
         from the end. What lies outside of the text is left out.",
        &[
            ("substring(\"pipeline\", 4)", "\"line\""),
            ("substring(\"pipeline\", 1, 3)", "\"ipe\""),
            ("substring(\"pipeline\", -4, 2)", "\"li\""),
        ],
    ),
    FunctionSpec::new(
        "text",
        "left(text: string, count: int64) -> string",
        "The first `count` characters.",
        &[("left(\"2026-03-15\", 4)", "\"2026\"")],
    ),
    FunctionSpec::new(
        "text",
        "right(text: string, count: int64) -> string",
        "The last `count` characters.",
        &[("right(\"2026-03-15\", 2)", "\"15\"")],
    ),
    FunctionSpec::new(
        "text",
        "split(text: string, separator: string) -> list<string>",
        "The parts of the text between the separators, empty ones too. An empty separator splits into characters.",
        &[("split(\"a,b,,c\", \",\")", "[\"a\", \"b\", \"\", \"c\"]")],
    ),
    FunctionSpec::new(
        "text",
        "split_index(text: string, separator: string, index: int64) -> string?",
        "One part of the text between the separators, counted from 0; null where there are fewer.",
        &[("split_index(\"https://a.com/x/y\", \"/\", 3)", "\"x\""), ("split_index(\"a,b\", \",\", 2)", "null")],
    ),
    FunctionSpec::new(
        "text",
        "reverse(text: string) -> string",
        "The characters in reverse order.",
        &[("reverse(\"abc\")", "\"cba\"")],
    ),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::value::Str;

    /// The number of characters.
    pub fn length(text: &str) -> i64 {
        text.chars().count() as i64
    }

    /// The number of bytes in UTF-8.
    pub fn byte_length(text: &str) -> i64 {
        text.len() as i64
    }

    /// The byte position of a character; the end where there are fewer.
    fn byte_of(text: &str, position: i64) -> usize {
        match usize::try_from(position) {
            Ok(position) if text.is_ascii() => position.min(text.len()),
            Ok(position) => text.char_indices().nth(position).map_or(text.len(), |(at, _)| at),
            Err(_) => 0,
        }
    }

    /// Part of a text.
    pub fn substring(text: &str, start: i64, length: Option<i64>) -> Str {
        let start = if start < 0 { start.saturating_add(self::length(text)) } else { start };
        let end = length.map_or(i64::MAX, |length| start.saturating_add(length.max(0)));
        let (from, to) = (byte_of(text, start), byte_of(text, end));
        text.get(from..to).unwrap_or_default().into()
    }

    /// The first characters.
    pub fn left(text: &str, count: i64) -> Str {
        text[..byte_of(text, count)].into()
    }

    /// The last characters.
    pub fn right(text: &str, count: i64) -> Str {
        if count <= 0 { Str::default() } else { text[byte_of(text, length(text).saturating_sub(count))..].into() }
    }

    /// The parts between separators.
    pub fn split(text: &str, separator: &str) -> Vec<Str> {
        if separator.is_empty() {
            text.chars().map(|c| Str::from(&*c.encode_utf8(&mut [0; 4]))).collect()
        } else {
            text.split(separator).map(Str::from).collect()
        }
    }

    /// One part between separators.
    pub fn split_index(text: &str, separator: &str, index: i64) -> Option<Str> {
        let index = usize::try_from(index).ok()?;
        if separator.is_empty() {
            return text.chars().nth(index).map(|c| Str::from(&*c.encode_utf8(&mut [0; 4])));
        }
        // A single byte needs no substring searcher.
        if let [byte] = separator.as_bytes() {
            return text.split(*byte as char).nth(index).map(Str::from);
        }
        text.split(separator).nth(index).map(Str::from)
    }

    /// The characters in reverse order.
    pub fn reverse(text: &str) -> Str {
        text.chars().rev().collect()
    }

    #[test]
    fn positions_are_characters_and_never_leave_the_text() {
        assert_eq!((length("Größe"), byte_length("Größe")), (5, 7));
        for (start, length, expected) in [
            (0, None, "Größe"),
            (2, None, "öße"),
            (2, Some(1), "ö"),
            (-2, None, "ße"),
            (-2, Some(1), "ß"),
            (9, None, ""),
            (-9, Some(5), "G"),
            (1, Some(-1), ""),
            (1, Some(i64::MAX), "röße"),
            (i64::MIN, None, "Größe"),
        ] {
            assert_eq!(substring("Größe", start, length), expected, "{start} {length:?}");
        }
        assert_eq!((left("Größe", 3).as_str(), left("a", 9).as_str(), left("a", -1).as_str()), ("Grö", "a", ""));
        assert_eq!((right("Größe", 2).as_str(), right("a", 9).as_str(), right("a", 0).as_str()), ("ße", "a", ""));
        assert_eq!(reverse("aß"), "ßa");
    }

    #[test]
    fn parts() {
        assert_eq!(split("a,b,,c", ","), ["a", "b", "", "c"]);
        assert_eq!(split("", ","), [""]);
        assert_eq!(split("aß", ""), ["a", "ß"]);
        let url = "https://www.nexmark.com/fajk/_fu/r_l/item.htm?query=1";
        assert_eq!([3, 4, 5].map(|index| split_index(url, "/", index).unwrap()), ["fajk", "_fu", "r_l"]);
        assert_eq!(
            (split_index("a::b", "::", 1), split_index("a", ",", 1), split_index("a", ",", -1)),
            (Some("b".into()), None, None)
        );
    }
}
