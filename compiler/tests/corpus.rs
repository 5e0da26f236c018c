//! Every file in `grammar/corpus` and every example parses without a word; the corpus files' trees are as recorded beside
//! them (`<name>.ast`). `UPDATE_GOLDEN=1` rewrites those.

mod files;

use std::path::Path;

use files::{flow_files, root};
use millstream_compiler::source::FileId;
use millstream_compiler::syntax;

fn parse(path: &Path) -> (syntax::ast::File, Vec<String>) {
    let text = std::fs::read_to_string(path).expect("text");
    let parse = syntax::parse(FileId(0), &text);
    let found = parse.diagnostics.into_sorted();
    let messages = found.iter().map(|found| {
        let at = found.primary.span;
        format!("{}: {} at {:?}", found.code.0, found.title, text.get(at.start as usize..at.end as usize))
    });
    (parse.file, messages.collect())
}

#[test]
fn the_corpus_parses_as_recorded() {
    let files = flow_files(&root().join("grammar/corpus"));
    assert!(files.len() >= 7);
    for path in files {
        let (file, messages) = parse(&path);
        assert!(messages.is_empty(), "{}: {messages:#?}", path.display());
        let (now, recorded) = (syntax::dump(&file), path.with_extension("ast"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&recorded, &now).expect("write");
        }
        let before = std::fs::read_to_string(&recorded).unwrap_or_default();
        assert_eq!(now, before, "{} has another tree than recorded; UPDATE_GOLDEN=1 records it", path.display());
    }
}

#[test]
fn the_examples_parse() {
    let files = flow_files(&root().join("examples"));
    assert!(files.len() >= 10);
    for path in files {
        let (file, messages) = parse(&path);
        assert!(messages.is_empty(), "{}: {messages:#?}", path.display());
        assert!(!file.items.is_empty());
    }
}
