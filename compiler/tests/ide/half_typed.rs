//! Texts that are only begun, or that lack a line: everything has an answer.

use std::path::{Path, PathBuf};

use millstream_compiler::disk::Disk;
use millstream_compiler::ide::{Analysis, complete, format, symbols};
use millstream_compiler::session::{Library, Loader};
use millstream_compiler::source::FileId;
use millstream_compiler::syntax::{Remembered, parse, parse_again};

/// A text in the place of a file; the others are on the disk.
struct Instead<'a> {
    path: &'a str,
    text: &'a str,
}

impl Loader for Instead<'_> {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        if path == self.path { Ok(self.text.as_bytes().to_vec()) } else { Disk.load(path) }
    }

    fn libraries(&self, _: &str) -> Result<Vec<Library>, String> {
        Err("no package".to_owned())
    }
}

/// The tree is the same whether or not items are remembered, and so is what is said.
fn same_again(text: &str, remembered: &Remembered) {
    let (plain, again) = (parse(FileId(3), text), parse_again(FileId(3), text, Some(remembered)));
    assert_eq!(plain.file, again.file, "{text}");
    assert_eq!(plain.diagnostics.into_sorted(), again.diagnostics.into_sorted(), "{text}");
}

#[test]
fn remembered_items_are_as_if_they_were_parsed() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grammar/corpus");
    let corpus = std::fs::read_dir(corpus).unwrap().flatten().map(|entry| entry.path());
    let corpus = corpus.filter(|path| path.extension().is_some_and(|ending| ending == "flow"));
    for path in examples().into_iter().chain(corpus) {
        let text = std::fs::read_to_string(&path).unwrap();
        let remembered = Remembered::default();
        // In another file, and at another place.
        parse_again(FileId(0), &text, Some(&remembered));
        same_again(&text, &remembered);
        same_again(&format!("// One more line.\nparam first: int64\n{text}"), &remembered);
        let half = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
        for more in ["}", " x", "\n\n", "\"", "/*"] {
            same_again(&format!("{}{more}{}", &text[..half], &text[half..]), &remembered);
        }
        // Without a bracket that is closed somewhere: the text that is parsed has it all the same.
        if let Some(at) = text.rfind('}') {
            same_again(&format!("{}{}", &text[..at], &text[at + 1..]), &remembered);
        }
    }
}

/// Asks all there is to ask at a place.
fn ask(path: &str, text: &str, at: usize) {
    let loader = Instead { path, text };
    let mut analysis = Analysis::of(path, &loader).expect("the file is there");
    analysis.plan();
    analysis.hover(at as u32);
    analysis.definition(at as u32);
    complete(path, at as u32, &loader);
    symbols(text);
    format(text);
}

fn examples() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() && entry.file_name() != "target" {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "flow") {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(found.len() > 20);
    found
}

/// How many of so many places are asked about: some hundreds, other ones in each file; with `IDE_TESTS=all` all of them, which takes
/// long without optimisation.
fn every(least: usize) -> usize {
    if std::env::var("IDE_TESTS").is_ok_and(|which| which == "all") { 1 } else { least }
}

#[test]
fn beginnings_of_examples() {
    let step = every(89);
    let mut at = 0;
    for path in examples() {
        let text = std::fs::read_to_string(&path).unwrap();
        let path = path.to_str().unwrap();
        while at < text.len() {
            if text.is_char_boundary(at) {
                ask(path, &text[..at], at);
            }
            at += step;
        }
        at -= text.len();
    }
}

#[test]
fn examples_without_one_of_their_lines() {
    let step = every(5);
    let mut gone = 0;
    for path in examples() {
        let text = std::fs::read_to_string(&path).unwrap();
        let path = path.to_str().unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        while gone < lines.len() {
            let at: usize = lines[..gone].iter().map(|line| line.len()).sum();
            let rest = format!("{}{}", &text[..at], &text[at + lines[gone].len()..]);
            ask(path, &rest, at);
            gone += step;
        }
        gone -= lines.len();
    }
}
