//! UI tests: what the compiler says about wrong files, place by place and word by word.
//!
//! `tests/ui/<phase>/<name>.flow` holds the input, with a comment under each mistake:
//!
//! ```text
//! stream late = flights | filter dep_delay > 60
//! //                      ^^^^^^ E0113 there is no operator `filter`
//! ```
//!
//! Under a mistake that begins in the first two columns stands `//~ E0102 ..` without carets. `<name>.stderr` beside it
//! holds all messages as a terminal shows them. `UPDATE_UI=1` rewrites both; `UI=name` runs only the tests whose path
//! contains it. Phase `syntax` is parsed only; all other phases run the whole front end and plan. A file that a test `use`s stands in the
//! same folder and its name begins with `_`.

mod ui_support;

use std::path::{Path, PathBuf};

use ui_support::{Outcome, annotate, run, strip};

#[test]
fn messages_are_as_recorded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let update = std::env::var_os("UPDATE_UI").is_some();
    let filter = std::env::var("UI").unwrap_or_default();
    let mut failures = Vec::new();
    let cases: Vec<PathBuf> = cases(&root).into_iter().filter(|path| path.to_string_lossy().contains(&filter)).collect();
    assert!(!cases.is_empty(), "no UI test fits `{filter}`");
    for path in &cases {
        let problems = check(&root, path, update);
        if !problems.is_empty() {
            failures.push(format!("--- {}\n{problems}", path.strip_prefix(&root).unwrap_or(path).display()));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {} UI tests fail; UPDATE_UI=1 records what is\n\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

fn cases(root: &Path) -> Vec<PathBuf> {
    let mut list = Vec::new();
    for phase in std::fs::read_dir(root).expect("tests/ui").flatten() {
        for file in std::fs::read_dir(phase.path()).into_iter().flatten().flatten() {
            let path = file.path();
            let hidden = file.file_name().to_string_lossy().starts_with('_');
            if path.extension().is_some_and(|extension| extension == "flow") && !hidden {
                list.push(path);
            }
        }
    }
    list.sort();
    list
}

/// What is wrong with a case; empty: nothing.
fn check(root: &Path, path: &Path, update: bool) -> String {
    let text = String::from_utf8_lossy(&std::fs::read(path).expect("case")).into_owned();
    let plain = strip(&text);
    let annotated = annotate(&plain, &run(root, path, &plain));
    let Outcome { rendered, diagnostics, .. } = run(root, path, &annotated);
    let stderr = path.with_extension("stderr");
    let mut problems = String::new();
    if diagnostics.is_empty() {
        problems.push_str("no diagnostics: a UI test has at least one\n");
    }
    if update {
        std::fs::write(path, &annotated).expect("write case");
        std::fs::write(&stderr, &rendered).expect("write stderr");
        return problems;
    }
    problems.push_str(&difference("markers", &text, &annotated));
    problems.push_str(&difference("messages", &std::fs::read_to_string(&stderr).unwrap_or_default(), &rendered));
    problems
}

/// The first lines that differ.
fn difference(what: &str, recorded: &str, now: &str) -> String {
    if recorded == now {
        return String::new();
    }
    let (recorded, now): (Vec<&str>, Vec<&str>) = (recorded.lines().collect(), now.lines().collect());
    let at = (0..).find(|at| recorded.get(*at) != now.get(*at)).unwrap_or(0);
    let part =
        |lines: &[&str], sign: &str| lines.iter().skip(at).take(6).map(|line| format!("  {sign} {line}\n")).collect::<String>();
    format!("{what} differ from line {}:\n{}{}", at + 1, part(&recorded, "-"), part(&now, "+"))
}
