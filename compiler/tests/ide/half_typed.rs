//! Texts that are only begun, or that lack a line: everything has an answer.

use std::path::{Path, PathBuf};

use millstream_compiler::disk::Disk;
use millstream_compiler::ide::{Analysis, complete, format, symbols};
use millstream_compiler::session::{Library, Loader};

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

/// Asks all there is to ask at a place.
fn ask(path: &str, text: &str, at: usize) {
    let loader = Instead { path, text };
    let analysis = Analysis::of(path, &loader).expect("the file is there");
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
