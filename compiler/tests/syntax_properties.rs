//! Properties of parsing that hold for any text: it never panics, its pieces cover the text, places lie within the text, and
//! one mistake leaves the items around it as they were. `FULL=1` deletes every character, not only some.

use std::ops::Range;
use std::path::Path;

use millstream_compiler::diagnostics::json::json;
use millstream_compiler::diagnostics::render::{Style, render_all};
use millstream_compiler::source::{FileId, SourceFile, SourceMap};
use millstream_compiler::syntax::{self, ast::File, ast::Item};
use millstream_grammar::split::{PieceKind, split_items};
use millstream_grammar::tokens::tokens;
use proptest::prelude::*;

/// Parses, dumps and renders a text, and checks what holds for all texts.
fn hold(text: &str) -> File {
    let covered: String = tokens(text).iter().map(|token| token.text(text)).collect();
    assert_eq!(covered, text, "tokens cover the text");
    let split = split_items(text);
    let covered: String = split.pieces.iter().map(|piece| &text[piece.range.clone()]).collect();
    assert_eq!(covered, text, "pieces cover the text");
    let mut sources = SourceMap::default();
    let file = sources.add(SourceFile::new("x.flow", text));
    let parse = syntax::parse(file, text);
    syntax::dump(&parse.file);
    for item in &parse.file.items {
        assert!(text.get(item.span.start as usize..item.span.end as usize).is_some(), "an item lies within the text");
    }
    let diagnostics = parse.diagnostics.into_sorted();
    let broken = parse.file.items.iter().any(|item| item.is_broken());
    assert!(!broken || !diagnostics.is_empty(), "a broken item is reported");
    for found in &diagnostics {
        let span = found.primary.span;
        assert!(text.get(span.start as usize..span.end as usize).is_some(), "{} lies within the text", found.code.0);
        json(found, &sources);
    }
    render_all(&diagnostics, &sources, Style::Plain);
    parse.file
}

/// Words and signs of the language, and what people mistake for them.
const PARTS: &[&str] = &[
    "job",
    "use",
    "param",
    "record",
    "fn",
    "source",
    "stream",
    "sink",
    "enum",
    "test",
    "from",
    "into",
    "where",
    "select",
    "aggregate",
    "by",
    "over",
    "tumbling",
    "explode",
    "as",
    "union",
    "watermark",
    "dedup",
    "keep",
    "last",
    "final",
    "changes",
    "match",
    "if",
    "then",
    "else",
    "and",
    "or",
    "not",
    "in",
    "is",
    "null",
    "between",
    "like",
    "cast",
    "list",
    "map",
    "int64",
    "on",
    "error",
    "skip",
    "key",
    "every",
    "late",
    "a",
    "x",
    "größe",
    "`order`",
    "`",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "|",
    "||",
    "&&",
    "=",
    "==",
    "=>",
    "->",
    ":",
    ":=",
    ",",
    ";",
    ".",
    "..",
    "?.",
    "??",
    "?",
    "!",
    "+",
    "-",
    "*",
    "/",
    "%",
    "@",
    "@id(1)",
    "@2026-01-01",
    "@2026-99-99",
    "$HOME",
    "1",
    "1.5",
    "1h30m",
    "64MB",
    "9d9",
    "\"text\"",
    "\"open",
    "r\"raw\"",
    "f\"{a}-{b}\"",
    "f\"{",
    "'q'",
    "'",
    "\\",
    "€",
    "\0",
    "//",
    "/// doc",
    "/*",
    "*/",
    "\n",
    "\n\n",
    "\t",
    "\r\n",
    "\u{FEFF}",
    "😀",
    "e\u{301}",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn any_mixture_of_parts_parses(parts in prop::collection::vec((prop::sample::select(PARTS), any::<bool>()), 0..60)) {
        let text: String = parts.iter().map(|(part, apart)| format!("{part}{}", if *apart { " " } else { "" })).collect();
        hold(&text);
    }

    #[test]
    fn any_text_parses(text in "\\PC*") {
        hold(&text);
    }

    #[test]
    fn any_part_anywhere_in_a_good_file_parses(at in 0_usize..4_000, part in prop::sample::select(PARTS)) {
        let (text, mut at) = (sample("grammar/corpus/pipelines.flow"), at);
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        hold(&format!("{}{part}{}", &text[..at], &text[at..]));
    }
}

fn sample(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).expect("sample")
}

/// The items of a text: the stretch of each and its dump.
fn items(text: &str) -> Vec<(Range<usize>, String)> {
    let parse = syntax::parse(FileId(0), text);
    let pieces = split_items(text).pieces;
    let own = pieces.iter().filter(|piece| matches!(piece.kind, PieceKind::Item(_))).map(|piece| piece.range.clone());
    // Without docs: a comment that loses its line end takes the next line in, and what was its item's doc is the next one's.
    let dump = |item: Item| syntax::dump(&File { items: vec![Item { doc: None, ..item }] });
    own.zip(parse.file.items).map(|(range, item)| (range, dump(item))).collect()
}

#[test]
fn a_deleted_character_harms_only_its_own_item() {
    let step = if std::env::var_os("FULL").is_some() { 1 } else { 29 };
    for path in ["examples/nexmark/nexmark.flow", "examples/flight_delays/flight_delays.flow", "grammar/corpus/items.flow"] {
        let text = sample(path);
        let before = items(&text);
        for (at, c) in text.char_indices().step_by(step) {
            let end = at + c.len_utf8();
            let shorter = format!("{}{}", &text[..at], &text[end..]);
            hold(&shorter);
            let now = items(&shorter);
            // The deleted character stands in an item, or on its border.
            for (_, dump) in before.iter().filter(|(range, _)| at > range.end || end < range.start) {
                let kept = now.iter().any(|(_, other)| other == dump);
                assert!(
                    kept,
                    "{path}: deleting {c:?} at {at} harms another item:\n{dump}\n{}",
                    syntax::dump(&syntax::parse(FileId(0), &shorter).file)
                );
            }
        }
    }
}

#[test]
fn hostile_texts_are_diagnosed() {
    let deep =
        |open: &str, close: &str, count: usize| format!("stream a = b | where {}x{}", open.repeat(count), close.repeat(count));
    let texts = [
        deep("(", ")", 10_000),
        deep("[", "]", 10_000),
        deep("(", "", 10_000),
        deep("", ")", 10_000),
        deep("not ", "", 10_000),
        deep("- ", "", 10_000),
        deep("if x then ", " else 0", 5_000),
        deep("f\"{", "}\"", 5_000),
        deep("match x { _ => ", " }", 5_000),
        format!("record R {{ a: {}int64{} }}", "list<".repeat(5_000), ">".repeat(5_000)),
        format!("stream a = b | where x{}", ".y".repeat(5_000)),
        format!("stream a = b | where x{}", " + x".repeat(5_000)),
        format!("stream a = b | where x{}", " < x".repeat(5_000)),
        "`".repeat(5_001),
        "\"".repeat(5_001),
        "@a ".repeat(5_000),
        "stream a = b | where >\n".repeat(300),
    ];
    for text in texts {
        hold(&text);
        let found = syntax::parse(FileId(0), &text).diagnostics.into_sorted();
        assert!(!found.is_empty(), "{}", &text[..60]);
    }
    // Long is not hostile.
    let long = format!("stream a = b | where x == 0{}", (1..5_000).map(|n| format!(" or x == {n}")).collect::<String>());
    assert!(syntax::parse(FileId(0), &long).diagnostics.is_empty());
}
