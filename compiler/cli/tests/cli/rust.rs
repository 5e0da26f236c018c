//! Rust files in pipelines: what `check` says of a signature agrees with rustc, and mistakes have the lines of the file.

use std::path::Path;
use std::process::Command;

use crate::support::{self, compare};

fn rows(folder: &Path) -> Vec<String> {
    let texts = compare::files(folder).iter().map(|file| compare::text(file)).collect::<String>();
    let mut rows: Vec<String> = texts.lines().map(str::to_owned).collect();
    rows.sort();
    rows
}

/// A pipeline and its Rust file in a folder of their own.
fn project(name: &str, flow: &str, rust: &str) -> std::path::PathBuf {
    let folder = support::fresh_folder(name);
    std::fs::write(folder.join("p.flow"), flow).expect("written");
    std::fs::write(folder.join("enrich.rs"), rust).expect("written");
    folder
}

#[test]
fn every_type_crosses_in_both_directions() {
    let own = support::root().join("compiler/cli/tests/rust");
    let folder = support::fresh_folder("rust-all");
    let binary = support::build(&own.join("all.flow"), &folder);
    std::os::unix::fs::symlink(own.join("data"), folder.join("data")).expect("a link to the data");
    let output = Command::new(&binary).current_dir(&folder).output().expect("the pipeline starts");
    support::assert_success(&output, "all");
    for name in ["all", "words", "weighed", "pairs", "waited", "failed", "replayed"] {
        let expected = std::fs::read_to_string(own.join(format!("expected/{name}.jsonl"))).unwrap_or_default();
        let found = rows(&folder.join("out").join(name));
        assert_eq!(found, expected.lines().collect::<Vec<_>>(), "{name}");
    }
}

const FLOW: &str = r#"
use rust "enrich.rs"
source rows: { x: int64 } from file { path: "rows.jsonl" }
stream out = rows | select { y: half(x) }
sink out into file { path: "out", format: json }
"#;

#[test]
fn what_rustc_says_has_the_lines_of_the_file() {
    let rust = "use millstream::prelude::*;\n\n#[function]\npub fn half(x: i64) -> i64 {\n    x.half()\n}\n";
    let folder = project("rust-wrong", FLOW, rust);
    let output = support::millstream().args(["build", "p.flow"]).current_dir(&folder).output().expect("millstream starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(said.contains("error[E0905]: enrich.rs does not compile"), "{said}");
    assert!(said.contains("--> enrich.rs:5:7"), "{said}");
    assert!(said.contains("no method named `half` found for type `i64`"), "{said}");
    assert!(!said.contains("internal error"), "{said}");
}

#[test]
fn errors_and_panics_say_where_they_come_from() {
    let rust = "use millstream::prelude::*;\n\n#[function]\npub fn half(x: i64) -> Result<i64, String> {\n    let unused = 1;\n    if x == 0 {\n        panic!(\"zero came\");\n    }\n    if x % 2 == 0 { Ok(x / 2) } else { Err(format!(\"{x} is odd\")) }\n}\n";
    let folder = project("rust-fails", FLOW, rust);
    let build = support::millstream().args(["build", "p.flow", "-o", "p"]).current_dir(&folder).output().expect("it starts");
    support::assert_success(&build, "build");
    let warned = String::from_utf8_lossy(&build.stderr).into_owned();
    assert!(warned.contains("unused variable: `unused`") && warned.contains("--> enrich.rs:5:9"), "{warned}");
    let run = |rows: &str| {
        std::fs::write(folder.join("rows.jsonl"), rows).expect("written");
        let output = Command::new(folder.join("p")).current_dir(&folder).output().expect("the pipeline starts");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (fine, said) = run("{\"x\":4}\n{\"x\":3}\n");
    assert!(!fine && said.contains("3 is odd") && said.contains("half(x)") && said.contains("p.flow:4"), "{said}");
    let (fine, said) = run("{\"x\":4}\n{\"x\":0}\n");
    assert!(!fine && said.contains("zero came") && said.contains("enrich.rs:7"), "{said}");
}

/// A library beside the pipeline: its root and a module of it, with a record of one in a function of the other.
#[test]
fn a_pipeline_takes_items_of_a_crate() {
    let root = support::root();
    let flow = r#"
use crate my_functions
source rows: Row from file { path: "rows.jsonl" }
stream out = rows | process Twice | select { half: half(x), loud: loud({ x: x }), waited: waited(x) }
sink out into file { path: "out", format: json }
"#;
    let folder = support::fresh_folder("rust-crate");
    let write = |path: &str, text: &str| std::fs::write(folder.join(path), text).expect("written");
    std::fs::create_dir_all(folder.join("src/words")).expect("folders");
    write("p.flow", flow);
    let runtime = root.join("runtime/millstream");
    write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"my-functions\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [dependencies]\nmillstream = {{ path = {:?} }}\n\n[workspace]\n",
            runtime.display().to_string()
        ),
    );
    // The versions that are here, so that nothing is fetched.
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
    write(
        "src/lib.rs",
        "use millstream::prelude::*;\n\npub mod words;\nmod hidden;\n\n\
         #[derive(Clone, Debug, Record)]\npub struct Row {\n    pub x: i64,\n}\n\n\
         #[function]\npub fn half(x: i64) -> i64 {\n    hidden::half(x)\n}\n\n\
         pub struct Twice;\n\n#[operator]\nimpl Process for Twice {\n    type Input = Row;\n    type Output = Row;\n\n    \
         fn process(&mut self, row: Row, cx: &mut Context<'_, Self>) -> Result<(), Failure> {\n        \
         cx.emit(row.clone());\n        cx.emit(row);\n        Ok(())\n    }\n}\n",
    );
    write("src/hidden.rs", "pub fn half(x: i64) -> i64 {\n    x / 2\n}\n");
    write("src/words/mod.rs", "pub mod loud;\n");
    write(
        "src/words/loud.rs",
        "use crate::Row;\nuse millstream::prelude::*;\n\n#[function]\npub fn loud(row: &Row) -> String {\n    \
         format!(\"{}!\", row.x)\n}\n\n#[function]\npub async fn waited(x: i64) -> i64 {\n    x + 1\n}\n",
    );
    write("rows.jsonl", "{\"x\":4}\n");
    let build = support::millstream().args(["build", "p.flow", "-o", "p"]).current_dir(&folder).output().expect("it starts");
    support::assert_success(&build, "build");
    let output = Command::new(folder.join("p")).current_dir(&folder).output().expect("the pipeline starts");
    support::assert_success(&output, "p");
    assert_eq!(rows(&folder.join("out")), ["{\"half\":2,\"loud\":\"4!\",\"waited\":5}"; 2]);
}

#[test]
fn commands_show_what_rust_files_define() {
    let said = |args: &[&str]| {
        let output = support::millstream().args(args).current_dir(support::root()).output().expect("millstream starts");
        support::assert_success(&output, &args.join(" "));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let listed = said(&["functions", "--of", "compiler/cli/tests/rust/all.flow"]);
    assert!(listed.contains("  length_of(text: string) -> uint64\n      Characters of a text.\n"), "{listed}");
    assert!(listed.contains("  checked_half(number: int64) -> int64\n"), "{listed}");
    let listed = said(&["functions", "--of", "examples/enrich/enrich.flow"]);
    assert!(listed.contains("  most_frequent(value: string) -> string\n      The text that comes most often;"), "{listed}");
    const WARM: &str = "examples/connector/pipelines/warm.flow";
    said(&["check", WARM]);
    let listed = said(&["connectors", "--of", WARM]);
    assert!(
        listed.starts_with("poll (source)\n    Asks a web service for new rows") && listed.contains("\nbatch (sink)\n"),
        "{listed}"
    );
    let page = said(&["connectors", "poll", "--of", WARM]);
    assert!(page.contains("  url: string, must be given\n      Address of the service"), "{page}");
    assert!(page.contains("  wait: duration = 30s\n") && page.contains("read again after a failure"), "{page}");
    let guaranteed = said(&["explain", WARM]);
    assert!(guaranteed.contains("exactly once"), "{guaranteed}");
    let explained = said(&["explain", "examples/fraud/fraud.flow"]);
    let keeps = "keeps the state of `FraudDetector`, and its event timers per (card), for ever";
    assert!(explained.contains(keeps), "{explained}");
}

const WANTED: &str = r#"job wanted { parallelism: 2 }

use rust "enrich.rs"

record Row { id: int64, known: string? }
source rows: Row from file { path: "rows.jsonl" }

/// Asks where nothing is known, and then once more for what it gave.
fn of(id: int64, known: string?) = known ?? upper(ask("fn", id)) ?? "none"
fn twice(id: int64) = if id % 3 == 0 then of(id, ask("twice", id)) else "no"

stream answered =
    rows
    | where id < 8 or ask("where", id) == "where 9"
    | select {
        id,
        coalesced: known ?? ask("coalesced", id),
        chosen: if id == 2 then ask("then", id) else if id == 3 then "three" else ask("else", id),
        matched: match id { 4 => ask("four", id), 5 => ask("five", id), _ => "other" },
        conjunction: id > 5 and ask("and", id) == "and 7",
        of: of(id, known),
        twice: twice(id),
      }

sink answered into file { path: "out", format: json }
"#;

const ASKED: &str = r#"use std::io::Write;

use millstream::prelude::*;

/// The same as it is asked for, and no answer to the question of 6.
#[function]
pub async fn ask(what: &str, id: i64) -> Result<Option<String>, String> {
    let mut log = std::fs::OpenOptions::new().append(true).create(true).open("asked").map_err(|error| error.to_string())?;
    log.write_all(format!("{what} {id}\n").as_bytes()).map_err(|error| error.to_string())?;
    sleep(Duration(100)).await;
    Ok((id != 6).then(|| format!("{what} {id}")))
}
"#;

#[test]
fn an_async_function_is_asked_where_its_value_is_wanted() {
    let folder = project("rust-wanted", WANTED, ASKED);
    let row = |id: i64| format!("{{\"id\":{id},\"known\":{}}}\n", if id % 2 == 0 { "\"k\"" } else { "null" });
    std::fs::write(folder.join("rows.jsonl"), (1..=10).map(row).collect::<String>()).expect("written");
    let binary = support::build(&folder.join("p.flow"), &folder);
    let output = Command::new(&binary).current_dir(&folder).output().expect("the pipeline starts");
    support::assert_success(&output, "wanted");

    let (mut asked, mut expected) = (Vec::new(), Vec::new());
    let mut want = |what: &str, id: i64| asked.push(format!("{what} {id}"));
    for id in 1..=10_i64 {
        let known = (id % 2 == 0).then(|| "k".to_owned());
        let answer = |what: &str| (id != 6).then(|| format!("{what} {id}"));
        if id >= 8 {
            want("where", id);
            if id != 9 {
                continue;
            }
        }
        let text = |value: Option<String>| value.map_or("null".to_owned(), |value| format!("\"{value}\""));
        let coalesced = known.clone().or_else(|| {
            want("coalesced", id);
            answer("coalesced")
        });
        let chosen = match id {
            2 => "then",
            3 => "three",
            _ => "else",
        };
        let matched = match id {
            4 => "four",
            5 => "five",
            _ => "other",
        };
        [chosen, matched].into_iter().filter(|word| !["three", "other"].contains(word)).for_each(|word| want(word, id));
        let chosen = if id == 3 { Some("three".to_owned()) } else { answer(chosen) };
        let matched = if matched == "other" { Some("other".to_owned()) } else { answer(matched) };
        if id > 5 {
            want("and", id);
        }
        let conjunction = if id == 6 { "null".to_owned() } else { (id == 7).to_string() };
        let mut of = |known: Option<String>| {
            known.unwrap_or_else(|| {
                want("fn", id);
                answer("FN").unwrap_or_else(|| "none".to_owned())
            })
        };
        let first = of(known);
        let second = match id % 3 {
            0 => of(answer("twice")),
            _ => "no".to_owned(),
        };
        if id % 3 == 0 {
            want("twice", id);
        }
        expected.push(format!(
            "{{\"id\":{id},\"coalesced\":{},\"chosen\":{},\"matched\":{},\"conjunction\":{conjunction},\"of\":\"{first}\",\"twice\":\"{second}\"}}",
            text(coalesced),
            text(chosen),
            text(matched)
        ));
    }
    expected.sort();
    assert_eq!(rows(&folder.join("out")), expected);
    let log = std::fs::read_to_string(folder.join("asked")).expect("what was asked");
    let mut found: Vec<&str> = log.lines().collect();
    found.sort_unstable();
    asked.sort();
    assert_eq!(found, asked);
}
