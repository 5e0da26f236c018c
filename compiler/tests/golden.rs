//! What every phase makes of a file: `tests/golden/<case>/in.flow`, and beside it one text per phase and the generated crate.
//!
//! `UPDATE_GOLDEN=1 cargo test -p millstream-compiler --test golden` writes them anew; review the difference as you would
//! review code. One test per case; a folder without a test, or a test without a folder, fails.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use millstream_compiler::codegen::{EmitOptions, emit};
use millstream_compiler::diagnostics::render::{Style, render_all};
use millstream_compiler::plan::dump;
use millstream_compiler::session::{Loader, Session};
use millstream_compiler::{hir, syntax};

macro_rules! cases {
    ($($name:ident)*) => {
        $(#[test] fn $name() { check(stringify!($name)); })*
        const CASES: &[&str] = &[$(stringify!($name)),*];
    };
}

cases! {
    analytic
    constants
    enums
    error_streams
    filters_move
    final_table
    hybrid
    joins
    late_rows
    lookups
    nested_records
    physical
    ranking
    rust_items
    sinks
    two_streams
    watched
    windows
}

#[test]
fn every_folder_is_a_case() {
    let mut folders: Vec<String> =
        std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    folders.sort();
    assert_eq!(folders, CASES);
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Reads below a case's folder.
struct Folder(PathBuf);

impl Loader for Folder {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        std::fs::read(self.0.join(path)).map_err(|error| error.to_string())
    }
}

/// What every phase makes of a case, by the file that holds it.
fn phases(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut session = Session::open("in.flow", &Folder(folder.to_owned())).unwrap();
    let planned = session.plan();
    let shown = render_all(session.diagnostics(), session.sources(), Style::Plain);
    let planned = planned.unwrap_or_else(|| panic!("a golden case has no mistakes:\n{shown}"));
    let mut out = BTreeMap::new();
    let mut put = |name: &str, text: String| out.insert(PathBuf::from(name), text);
    put("1-ast.txt", syntax::dump(&session.files()[0].1));
    put("2-hir.txt", hir::dump(session.program()));
    put("3-job.txt", dump::job(&planned.built));
    put("4-optimised.txt", dump::job(&planned.job));
    put("5-execution.txt", dump::execution(&planned.job, &planned.execution));
    let options = EmitOptions { source: "in.flow".to_owned(), folder: Default::default(), version: "0.0.0".to_owned() };
    for (path, text) in emit(&planned.job, &planned.execution, &options).files {
        put(&format!("6-rust/{}", path.display()), text);
    }
    out
}

fn check(case: &str) {
    let folder = root().join(case);
    let found = phases(&folder);
    // The same again: no phase depends on chance.
    assert_eq!(found, phases(&folder));
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value != "0") {
        return update(&folder, &found);
    }
    let expected = recorded(&folder);
    let paths: Vec<_> = expected.keys().chain(found.keys()).collect::<std::collections::BTreeSet<_>>().into_iter().collect();
    let mut differences = String::new();
    for path in paths {
        match (expected.get(path), found.get(path)) {
            (Some(expected), Some(found)) if expected == found => {}
            (expected, found) => {
                let lines = |text: Option<&String>| {
                    text.map(String::as_str).unwrap_or_default().lines().map(str::to_owned).collect::<Vec<_>>()
                };
                let (expected, found) = (lines(expected), lines(found));
                let at = expected.iter().zip(&found).take_while(|(a, b)| a == b).count();
                let window =
                    |lines: &[String]| lines.iter().skip(at.saturating_sub(2)).take(8).cloned().collect::<Vec<_>>().join("\n");
                differences.push_str(&format!(
                    "{} differs from line {}:\nrecorded:\n{}\nfound:\n{}\n\n",
                    path.display(),
                    at + 1,
                    window(&expected),
                    window(&found)
                ));
            }
        }
    }
    assert!(differences.is_empty(), "{case}:\n{differences}UPDATE_GOLDEN=1 writes what is found");
}

/// A Rust file that a case uses, beside its pipeline.
fn is_used(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('_'))
}

/// The recorded files of a case.
fn recorded(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut out = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension != "flow") && !is_used(&path) {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                out.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    out
}

fn update(folder: &Path, found: &BTreeMap<PathBuf, String>) {
    for path in recorded(folder).keys().filter(|path| !found.contains_key(*path)) {
        std::fs::remove_file(folder.join(path)).unwrap();
    }
    for (path, text) in found {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}
