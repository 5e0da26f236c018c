//! What must hold of the tree itself: sizes, headers, links.

use std::path::{Path, PathBuf};

use crate::support;

/// Files of these endings below the project, without build output, recorded results, and what is wrong on purpose.
fn files(ending: &str) -> Vec<PathBuf> {
    fn walk(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("the project can be read") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with('.') || ["target", "golden", "ui", "misuse", "out"].contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                walk(&path, ending, found);
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&support::root(), ending, &mut found);
    assert!(!found.is_empty(), "no {ending} files");
    found.sort();
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A file that grows beyond this is two files.
const LINES: usize = 550;

#[test]
fn no_source_file_is_long() {
    let long: Vec<_> =
        files(".rs").into_iter().map(|path| (read(&path).lines().count(), path)).filter(|(lines, _)| *lines > LINES).collect();
    assert!(long.is_empty(), "longer than {LINES} lines: {long:#?}");
}

#[test]
fn every_module_says_what_it_is() {
    let silent: Vec<_> = files(".rs").into_iter().filter(|path| !read(path).trim_start().starts_with("//!")).collect();
    assert!(silent.is_empty(), "without a `//!` header: {silent:#?}");
}

/// Relative links of all pages lead to files that exist.
#[test]
fn links_lead_somewhere() {
    let mut broken = Vec::new();
    for page in files(".md") {
        let text = read(&page);
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split(')').next().unwrap_or("");
            let target = target.split('#').next().unwrap_or("");
            if target.is_empty() || target.contains("://") {
                continue;
            }
            if !page.parent().expect("a folder").join(target).exists() {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}
