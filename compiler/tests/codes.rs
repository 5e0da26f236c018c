//! Codes, their pages and their UI tests belong together: every code used in the compiler has a page, every page is
//! registered, says its own code, and is used, and every code of the front end stands in a UI test.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use millstream_compiler::diagnostics::codes::PAGES;

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut list = Vec::new();
    for entry in std::fs::read_dir(folder).expect("folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            list.extend(files(&path, extension));
        } else if path.extension().is_some_and(|of| of == extension) {
            list.push(path);
        }
    }
    list
}

/// Codes in a text: a letter, four digits, nothing of a word around. `quoted`: only those that are whole string literals.
fn codes(text: &str, quoted: bool) -> BTreeSet<String> {
    let bytes = text.as_bytes();
    let mut found = BTreeSet::new();
    for at in 0..bytes.len().saturating_sub(4) {
        let code = &bytes[at..at + 5];
        if !matches!(code[0], b'E' | b'W') || code[1] != b'0' || !code[2..].iter().all(u8::is_ascii_digit) {
            continue;
        }
        let (before, after) = (at.checked_sub(1).map(|at| bytes[at]), bytes.get(at + 5).copied());
        let fits = match quoted {
            true => before == Some(b'"') && after == Some(b'"'),
            false => {
                !before.is_some_and(|byte| byte.is_ascii_alphanumeric())
                    && !after.is_some_and(|byte| byte.is_ascii_alphanumeric())
            }
        };
        if fits {
            found.insert(String::from_utf8_lossy(code).into_owned());
        }
    }
    found
}

fn crate_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let registered: BTreeSet<String> = PAGES.iter().map(|page| page.code.to_string()).collect();
    assert_eq!(registered.len(), PAGES.len(), "a code is registered twice");
    let mut used = BTreeSet::new();
    let own = files(&crate_root().join("src"), "rs");
    // Layouts that cannot run are found where graphs are expanded.
    let graphs = files(&crate_root().join("../runtime/src/graph"), "rs");
    for path in own.iter().chain(&graphs).filter(|path| !path.ends_with("diagnostics/codes.rs")) {
        used.extend(codes(&std::fs::read_to_string(path).expect("source"), true));
    }
    let pages: BTreeSet<String> = files(&crate_root().join("src/diagnostics/pages"), "md")
        .iter()
        .filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))
        .collect();
    assert_eq!(used.difference(&registered).collect::<Vec<_>>(), Vec::<&String>::new(), "used without a page");
    assert_eq!(registered.difference(&used).collect::<Vec<_>>(), Vec::<&String>::new(), "registered but never used");
    assert_eq!(pages, registered, "files in pages/ and the register");
    for page in PAGES {
        assert!(page.text.starts_with(&format!("# {}: ", page.code)), "{} begins with another heading", page.code);
        assert!(page.text.matches("```").count() >= 4 || page.code >= "E07", "{} shows no wrong and right example", page.code);
    }
}

#[test]
fn every_code_of_the_front_end_stands_in_a_ui_test() {
    let mut tested = BTreeSet::new();
    for path in files(&crate_root().join("tests/ui"), "stderr") {
        tested.extend(codes(&std::fs::read_to_string(path).expect("recorded messages"), false));
    }
    // Planning has tests of its own, the build needs cargo.
    let front_end = PAGES.iter().map(|page| page.code).filter(|code| !code.starts_with("E07") && !code.starts_with("E09"));
    let missing: Vec<&str> = front_end.filter(|code| !tested.contains(*code)).collect();
    assert!(missing.is_empty(), "no UI test shows {missing:?}");
}
