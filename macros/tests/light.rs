//! What comes with the macros: little, and the compiler only with `flow!`.

use std::collections::BTreeSet;
use std::process::Command;

/// The names of the packages that one is built of.
fn packages(arguments: &[&str]) -> BTreeSet<String> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["tree", "--offline", "--locked", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"])
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter_map(|line| line.split(' ').next()).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn has(packages: &BTreeSet<String>, start: &str) -> bool {
    packages.iter().any(|name| name.starts_with(start))
}

#[test]
fn the_derives_are_built_of_syn_and_quote_alone() {
    let found = packages(&["--package", "millstream-macros"]);
    let known = ["millstream-macros", "proc-macro2", "quote", "syn", "unicode-ident"];
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), known);
}

#[test]
fn the_compiler_comes_with_flow_alone() {
    let without = packages(&["--package", "millstream"]);
    assert!(has(&without, "millstream-macros") && has(&without, "tokio"), "{without:?}");
    assert!(!has(&without, "pest") && !has(&without, "millstream-compiler"), "{without:?}");
    let with = packages(&["--package", "millstream", "--features", "flow"]);
    assert!(has(&with, "pest") && has(&with, "millstream-compiler"), "{with:?}");
}
