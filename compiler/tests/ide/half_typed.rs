//! Texts that are only begun, or that lack a line: everything has an answer.

use std::path::{Path, PathBuf};
use std::time::Instant;

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

#[test]
fn every_beginning_of_an_example() {
    let start = Instant::now();
    let mut count = 0;
    for path in examples() {
        let text = std::fs::read_to_string(&path).unwrap();
        let path = path.to_str().unwrap();
        for (at, _) in text.char_indices() {
            count += 1;
            ask(path, &text[..at], at);
        }
    }
    eprintln!("{count} beginnings in {:?}", start.elapsed());
}

#[test]
fn every_example_without_one_of_its_lines() {
    let start = Instant::now();
    let mut count = 0;
    for path in examples() {
        let text = std::fs::read_to_string(&path).unwrap();
        let path = path.to_str().unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for gone in 0..lines.len() {
            let at: usize = lines[..gone].iter().map(|line| line.len()).sum();
            let rest: String = lines.iter().enumerate().filter(|(index, _)| *index != gone).map(|(_, line)| *line).collect();
            count += 1;
            ask(path, &rest, at.min(rest.len()));
        }
    }
    eprintln!("{count} texts in {:?}", start.elapsed());
}
