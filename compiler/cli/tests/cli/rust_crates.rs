//! `use crate` of a crate that the package around renames, with features, inline modules and modules that lie elsewhere.

use std::path::Path;
use std::process::Command;

use crate::support::{assert_success, compare, fresh_folder, millstream, root};

const FLOW: &str = r#"
use crate fns
source rows: Row from file { path: "rows.jsonl" }
stream out = rows | process Twice | select {
    a: inlined(x), b: placed(x), c: below(x), d: deeper(x), e: deep(x), f: annotated(x), g: extra ?? 0, h: far(x)
}
sink out into file { path: "out", format: json }
"#;

const LIB: &str = r#"use millstream::prelude::*;

#[path = "odd/place.rs"]
pub mod placed;

pub mod inline {
    use millstream::prelude::*;

    #[function]
    pub fn inlined(x: i64) -> i64 {
        x + 1
    }

    // In `inline/`, as the module is.
    #[path = "other.rs"]
    pub mod deeper;
    pub mod far;
}

mod hidden {
    /// Nobody outside can call it.
    #[millstream::prelude::function]
    pub fn concealed(x: i64) -> i64 {
        x
    }
}

#[derive(Clone, Debug, Record)]
pub struct Row {
    pub x: i64,
    #[cfg(feature = "deep")]
    pub extra: Option<i64>,
    #[cfg(feature = "basic")]
    pub never: String,
}

pub struct Twice;

#[operator]
impl Process for Twice {
    type Input = Row;
    type Output = Row;

    fn process(&mut self, row: Row, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.emit(Row { x: hidden::concealed(row.x), ..row.clone() });
        cx.emit(row);
        Ok(())
    }
}

/// There are two of them, with other types.
#[cfg(feature = "deep")]
#[function]
pub fn deep(x: i64) -> String {
    format!("deep {x}")
}

#[cfg(not(feature = "deep"))]
#[function]
pub fn deep(x: String) -> String {
    x
}

#[cfg(all(feature = "basic", not(test)))]
#[function]
pub fn basic(x: i64) -> i64 {
    x
}

#[cfg_attr(feature = "more", millstream::prelude::function)]
pub fn annotated(x: i64) -> i64 {
    x * 10
}
"#;

/// A function in a file of its own.
fn function(name: &str, modules: &str, value: &str) -> String {
    format!("use millstream::prelude::*;\n{modules}\n#[function]\npub fn {name}(x: i64) -> i64 {{\n    {value}\n}}\n")
}

fn project(name: &str) -> std::path::PathBuf {
    let folder = fresh_folder(name);
    let write = |path: &str, text: &str| {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        std::fs::write(file, text).expect("written");
    };
    let millstream = root().join("runtime/millstream").display().to_string();
    write(
        "Cargo.toml",
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         fns = { package = \"my-functions\", path = \"my\", default-features = false, features = [\"more\"] }\n\n\
         [workspace]\nmembers = [\"my\"]\n",
    );
    write("src/lib.rs", "");
    write(
        "my/Cargo.toml",
        &format!(
            "[package]\nname = \"my-functions\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [features]\ndefault = [\"basic\"]\nbasic = []\nmore = [\"deep\"]\ndeep = []\n\n\
             [dependencies]\nmillstream = {{ path = {millstream:?} }}\n"
        ),
    );
    write("my/src/lib.rs", LIB);
    write("my/src/odd/place.rs", &function("placed", "pub mod below;", "x + 2"));
    write("my/src/odd/below.rs", &function("below", "", "x + 3"));
    write("my/src/inline/other.rs", &function("deeper", "", "x + 4"));
    write("my/src/inline/far.rs", &function("far", "", "x + 5"));
    write("rows.jsonl", "{\"x\":1,\"extra\":7}\n");
    // The versions that are here, so that nothing is fetched.
    std::fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
    folder
}

/// What `check` says of a pipeline in the project.
fn said(folder: &Path, flow: &str) -> String {
    std::fs::write(folder.join("wrong.flow"), flow).expect("written");
    let output = millstream().args(["check", "wrong.flow"]).current_dir(folder).output().expect("it starts");
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_crate_is_read_as_it_is_compiled() {
    let folder = project("rust-crates");
    std::fs::write(folder.join("p.flow"), FLOW).expect("written");
    let build = millstream().args(["build", "p.flow", "-o", "p"]).current_dir(&folder).output().expect("it starts");
    assert_success(&build, "build");
    let output = Command::new(folder.join("p")).current_dir(&folder).output().expect("the pipeline starts");
    assert_success(&output, "p");
    let rows: String = compare::files(&folder.join("out")).iter().map(|file| compare::text(file)).collect();
    let row = r#"{"a":2,"b":3,"c":4,"d":5,"e":"deep 1","f":10,"g":7,"h":6}"#;
    assert_eq!(rows.lines().collect::<Vec<_>>(), [row; 2]);
}

#[test]
fn what_a_feature_leaves_out_is_said_by_its_feature() {
    let folder = project("rust-crates-wrong");
    let pipeline = |call: &str| {
        format!(
            "use crate fns\nsource rows: Row from file {{ path: \"rows.jsonl\" }}\nsink rows | select {{ y: {call} }} into stdout\n"
        )
    };
    let basic = said(&folder, &pipeline("basic(x)"));
    assert!(basic.contains("[E0819]: `basic` is there only with the feature `basic`"), "{basic}");
    assert!(basic.contains("`fns = { .., features = [\"basic\"] }`"), "{basic}");
    let never = said(&folder, &pipeline("never"));
    assert!(never.contains("`never`") && never.matches("error[").count() == 1, "{never}");
    let concealed = said(&folder, &pipeline("concealed(x)"));
    assert!(concealed.contains("`concealed`") && concealed.matches("error[").count() == 1, "{concealed}");
    // Under the name that Cargo.toml gives it, and the one that it has; not under one that nobody gives.
    let unknown =
        said(&folder, "use crate fnss\nsource rows: { x: int64 } from file { path: \"rows.jsonl\" }\nsink rows into stdout\n");
    assert!(unknown.contains("[E0817]") && unknown.contains("did you mean `fns`?"), "{unknown}");
}
