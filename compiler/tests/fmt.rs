//! The formatter: `tests/fmt/<case>.flow` becomes `<case>.expected` (`UPDATE_FMT=1` writes it), and for every text that there
//! is: formatting twice changes nothing more, the tree stays, and no comment is lost.

mod files;

use std::path::Path;

use files::{flow_files, root};
use millstream_compiler::fmt::{format, format_and_count};
use millstream_compiler::source::FileId;
use millstream_compiler::syntax;
use millstream_grammar::split::{PieceKind, split_items};
use millstream_grammar::tokens::{TokenKind, tokens};
use proptest::prelude::*;

/// Comments in order, without the blanks at their ends.
fn comments(text: &str) -> Vec<String> {
    let is_comment = |kind| matches!(kind, TokenKind::Comment | TokenKind::Doc | TokenKind::BlockComment);
    tokens(text).iter().filter(|token| is_comment(token.kind)).map(|token| token.text(text).trim_end().to_owned()).collect()
}

fn tree(text: &str) -> String {
    syntax::dump(&syntax::parse(FileId(0), text).file)
}

/// What holds for every text.
fn hold(text: &str) -> Result<String, String> {
    let (once, kept) = format_and_count(text);
    if kept > 0 {
        return Err(format!("{kept} items of\n{text}\n-- would have changed"));
    }
    let twice = format(&once);
    if once != twice {
        return Err(format!("formatting again changes\n{once}\n-- to\n{twice}"));
    }
    if tree(text) != tree(&once) {
        return Err(format!("the tree of\n{text}\n-- is not that of\n{once}"));
    }
    let (mut before, mut after) = (comments(text), comments(&once));
    before.sort();
    after.sort();
    if before != after {
        return Err(format!("comments of\n{text}\n-- are not those of\n{once}"));
    }
    Ok(once)
}

#[test]
fn every_file_keeps_its_tree_and_comments() {
    let mut files = flow_files(&root());
    files.retain(|path| std::fs::read_to_string(path).is_ok());
    assert!(files.len() > 60);
    for path in files {
        let text = std::fs::read_to_string(&path).expect("text");
        hold(&text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
    }
}

#[test]
fn examples_are_in_the_style() {
    for path in flow_files(&root().join("examples")) {
        let text = std::fs::read_to_string(&path).expect("text");
        let formatted = format(&text);
        if std::env::var_os("UPDATE_FMT").is_some() {
            std::fs::write(&path, &formatted).expect("write");
            continue;
        }
        assert!(formatted == text, "{} is not in the style; as it should be:\n{formatted}", path.display());
    }
}

#[test]
fn cases_are_as_recorded() {
    let cases = flow_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fmt"));
    assert!(!cases.is_empty());
    for path in cases {
        let text = std::fs::read_to_string(&path).expect("text");
        let formatted = hold(&text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
        let expected = path.with_extension("expected");
        if std::env::var_os("UPDATE_FMT").is_some() {
            std::fs::write(&expected, &formatted).expect("write");
        }
        assert_eq!(formatted, std::fs::read_to_string(&expected).unwrap_or_default(), "{}", path.display());
    }
}

/// Good items, with blanks and comments between their tokens wherever the grammar takes them.
fn shaken() -> impl Strategy<Value = String> {
    let corpus: Vec<String> = ["grammar/corpus", "examples"]
        .iter()
        .flat_map(|folder| flow_files(&root().join(folder)))
        .flat_map(|path| {
            let text = std::fs::read_to_string(path).expect("text");
            let split = split_items(&text);
            let items = split.pieces.iter().filter(|piece| matches!(piece.kind, PieceKind::Item(_)));
            items.map(|piece| text[piece.body.clone()].to_owned()).collect::<Vec<_>>()
        })
        .collect();
    let blank = prop_oneof![
        12 => Just(" "),
        3 => Just("\n"),
        1 => Just("\n\n"),
        1 => Just(" // a remark\n"),
        1 => Just("\n    // above\n"),
    ];
    (prop::sample::select(corpus), prop::collection::vec(blank, 40)).prop_map(|(item, blanks)| {
        let mut out = String::new();
        let mut number = 0;
        for token in tokens(&item) {
            if token.kind == TokenKind::Space {
                out.push_str(blanks[number % blanks.len()]);
                number += 1;
            } else {
                out.push_str(token.text(&item));
            }
        }
        out
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shaken_items_hold(text in shaken()) {
        if let Err(problem) = hold(&text) {
            return Err(TestCaseError::fail(problem));
        }
    }
}
