//! What rustc says about wrong pipelines, and of Rust items only it can judge: `tests/misuse/<name>.rs`, and beside it its messages.
//!
//! `UPDATE_UI=1` writes them anew; read the difference. All cases are binaries of one project, looked at by one `cargo check` in the target
//! folder of these tests, where most of what they need is built already.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn root() -> PathBuf {
    here().ancestors().nth(2).expect("two folders deep").to_path_buf()
}

/// The names of the cases.
fn cases() -> Vec<String> {
    let entries = std::fs::read_dir(here().join("tests/misuse")).expect("the folder of cases");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|path| path.file_stem().map(|name| name.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names
}

/// A project with a binary for each case, whose dependencies are those of the workspace, in its versions and profile.
fn project(cases: &[String]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("misuse");
    std::fs::create_dir_all(&folder).expect("a folder");
    let workspace = std::fs::read_to_string(root().join("Cargo.toml")).expect("the manifest of the workspace");
    let start = workspace.find("[profile.dev]").expect("a profile");
    let end = workspace[start..].find("\n# ").map_or(workspace.len(), |end| start + end);
    let mut manifest = format!(
        "[package]\nname = \"misuse\"\nversion = \"0.0.0\"\nedition = \"2024\"\nautobins = false\n\n[workspace]\n\n\
         [dependencies]\nmillstream = {{ path = {:?}, features = [\"flow\"] }}\n\n{}\n",
        root().join("runtime/millstream"),
        &workspace[start..end]
    );
    for case in cases {
        let path = here().join("tests/misuse").join(format!("{case}.rs"));
        manifest.push_str(&format!("[[bin]]\nname = {case:?}\npath = {path:?}\n"));
    }
    let file = folder.join("Cargo.toml");
    if std::fs::read_to_string(&file).ok().as_deref() != Some(&manifest) {
        std::fs::write(&file, manifest).expect("written");
    }
    // The versions that are here, so that nothing is fetched.
    std::fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
    folder
}

/// What rustc says of each case.
fn messages(folder: &Path) -> BTreeMap<String, String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder");
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["check", "--bins", "--keep-going", "--offline", "--message-format=json", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", target)
        .output()
        .expect("cargo starts");
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let text = |pointer: &str| message.pointer(pointer).and_then(serde_json::Value::as_str).unwrap_or_default();
        // Not the counts at the end, and nothing that an unfinished item is warned about.
        let counts = text("/message/level") == "error" && message.pointer("/message/spans/0").is_some();
        if text("/reason") == "compiler-message" && text("/target/src_path").contains("/tests/misuse/") && counts {
            found.entry(text("/target/name").to_owned()).or_default().push(normal(text("/message/rendered")));
        }
    }
    assert!(!found.is_empty(), "nothing is said: {}", String::from_utf8_lossy(&output.stderr));
    found.into_iter().map(|(name, all)| (name, all.join("\n\n") + "\n")).collect()
}

/// The same on every machine: paths from the project on; of its own files and those of rustc neither lines nor text, which change.
fn normal(rendered: &str) -> String {
    let here = format!("{}/", here().display());
    let root = format!("{}/", root().display());
    let mut out: Vec<String> = Vec::new();
    let (mut skips, mut lists) = (false, false);
    for line in rendered.trim_end().lines() {
        let arrow = line.trim_start();
        // Where rustc puts long types is a place of this machine.
        if arrow.contains("the full name for the type has been written to") || arrow.contains("print the full type name") {
            continue;
        }
        // Whoever else implements a trait is others with each new type.
        lists = match arrow.contains("the following other types implement trait") {
            true => true,
            false => lists && !["= ", "note:", "help:"].iter().any(|start| arrow.starts_with(start)) && !arrow.is_empty(),
        };
        if lists {
            continue;
        }
        if arrow.starts_with("--> ") || arrow.starts_with("::: ") {
            skips = !line.contains(&here);
            let place = line.replace(&here, "").replace(&root, "$ROOT/");
            match place.find("/library/").filter(|_| skips) {
                _ if !skips => out.push(place),
                Some(at) => out.push(format!("{}$RUST{}", &line[..line.len() - arrow.len() + 4], without_line(&place[at..]))),
                None => out.push(without_line(&place).to_owned()),
            }
        } else if !skips
            || !(arrow.starts_with('|') || arrow.starts_with("...") || arrow.starts_with(|c: char| c.is_ascii_digit()))
        {
            out.push(line.replace(&here, "").replace(&root, "$ROOT/").trim_end().to_owned());
        }
    }
    out.join("\n")
}

/// `lib.rs:12:5` is `lib.rs`.
fn without_line(place: &str) -> &str {
    place.find(".rs:").map_or(place, |at| &place[..at + 3])
}

#[test]
fn messages_are_as_recorded() {
    let cases = cases();
    let found = messages(&project(&cases));
    let update = std::env::var_os("UPDATE_UI").is_some_and(|value| value != "0");
    let mut differences = String::new();
    for case in &cases {
        let said = found.get(case).map(String::as_str).unwrap_or_default();
        assert!(said.contains("error"), "{case} compiles: {said}");
        let file = here().join("tests/misuse").join(format!("{case}.stderr"));
        if update {
            std::fs::write(&file, said).expect("written");
        } else if std::fs::read_to_string(&file).ok().as_deref() != Some(said) {
            differences.push_str(&format!("{case}.stderr differs; found:\n{said}\n"));
        }
    }
    assert!(differences.is_empty(), "{differences}UPDATE_UI=1 writes what is found");
}

/// The title and the place of every recorded message of a file.
fn recorded(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).expect("a recorded file");
    let mut found: Vec<String> = Vec::new();
    let mut place_is_next = false;
    for line in text.lines() {
        if line.starts_with("error") {
            found.push(line.to_owned());
            place_is_next = true;
        } else if place_is_next && let Some((_, place)) = line.split_once("--> ") {
            let last = found.last_mut().expect("a title before its place");
            last.push_str(" at ");
            last.push_str(place);
            place_is_next = false;
        }
    }
    found
}

#[test]
fn one_mistake_has_one_message() {
    let mut looked_at = 0;
    for folder in [here().join("tests/misuse"), root().join("macros/tests/misuse")] {
        for entry in std::fs::read_dir(folder).expect("the folder of cases") {
            let file = entry.expect("an entry").path();
            if file.extension().is_none_or(|extension| extension != "stderr") {
                continue;
            }
            let mut messages = recorded(&file);
            looked_at += messages.len();
            messages.sort();
            for pair in messages.windows(2) {
                assert_ne!(pair[0], pair[1], "{} says it twice", file.display());
            }
        }
    }
    assert!(looked_at > 120, "{looked_at} messages");
    // Two field types that are none, a struct without `Clone`, a time that is none, an enum without `Copy`.
    let records = recorded(&here().join("tests/misuse/typed_records.stderr"));
    assert_eq!(records.len(), 4, "{records:#?}");
}
