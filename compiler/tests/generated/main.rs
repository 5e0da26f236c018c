//! Generated code compiles without a warning: every golden case, every example, and every kind of expression.
//!
//! One package with one binary per pipeline, so that cargo checks all of them at once and the runtime only once.

mod expressions;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use millstream_compiler::codegen::{EmitOptions, emit};
use millstream_compiler::diagnostics::render::{Style, render_all};
use millstream_compiler::session::{Loader, Session};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

struct Disk;

impl Loader for Disk {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        fs::read(path).map_err(|error| error.to_string())
    }
}

/// All pipelines: name and file. Files that are only used by others have no job.
fn pipelines() -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for folder in ["compiler/tests/golden", "examples"] {
        let folder = root().join(folder);
        for case in fs::read_dir(&folder).expect("a folder") {
            let case = case.expect("an entry").path();
            for file in fs::read_dir(&case).into_iter().flatten() {
                let file = file.expect("an entry").path();
                let text = fs::read_to_string(&file).unwrap_or_default();
                let is_job = text.lines().any(|line| line.starts_with("job "));
                if file.extension().is_some_and(|extension| extension == "flow") && is_job {
                    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                    found.push((format!("{}_{}", name(&case), name(&file)), file));
                }
            }
        }
    }
    found.sort();
    found
}

/// Writes a file unless it is as it should be: cargo then checks only what changed.
fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("written");
}

/// Writes a pipeline's sources. Gives the features that it needs.
fn emit_pipeline(folder: &Path, file: &Path) -> BTreeSet<&'static str> {
    let mut session = Session::open(&file.display().to_string(), &Disk).expect("a file");
    let planned = session.plan();
    let shown = render_all(session.diagnostics(), session.sources(), Style::Plain);
    let planned = planned.unwrap_or_else(|| panic!("{}:\n{shown}", file.display()));
    let options = EmitOptions { source: file.display().to_string(), folder: Default::default(), version: "0".into() };
    let generated = emit(&planned.job, &planned.execution, &options);
    for (path, text) in generated.files {
        write(&folder.join(path.strip_prefix("src").expect("a file below src")), &text);
    }
    generated.features
}

/// Beside the cache that the environment names, if it does: then checkouts share what the crates depend on.
fn target_folder(folder: &Path) -> PathBuf {
    match std::env::var_os("MILLSTREAM_HOME").filter(|value| !value.is_empty()) {
        Some(home) => PathBuf::from(home).join("check"),
        None => folder.join("target"),
    }
}

#[test]
fn all_generated_code_compiles_without_a_warning() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("generated");
    let runtime = root().join("runtime/millstream").canonicalize().expect("the runtime");
    let mut bins = String::new();
    let mut features = BTreeSet::new();
    let manifest = |features: Vec<&str>| {
        format!(
            "[package]\nname = \"generated\"\nversion = \"0.0.0\"\nedition = \"2024\"\nautobins = false\n\n\
         [dependencies]\nmillstream = {{ path = {runtime:?}, features = {features:?} }}\n\n[workspace]\n\n[lints.rust]\nwarnings = \"deny\"\n"
        )
    };
    let pipelines = pipelines();
    assert!(pipelines.len() > 20, "{pipelines:?}");
    for (name, file) in &pipelines {
        let path = Path::new("bins").join(name);
        features.extend(emit_pipeline(&folder.join(&path), file));
        bins.push_str(&format!("\n[[bin]]\nname = {name:?}\npath = {:?}\n", path.join("main.rs")));
    }
    for (path, text) in expressions::modules() {
        write(&folder.join(path), &text);
    }
    write(&folder.join("Cargo.toml"), &format!("{}{bins}", manifest(features.into_iter().collect())));
    if !folder.join("Cargo.lock").exists() {
        fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).expect("copied");
    }
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["check", "--quiet", "--offline", "--target-dir"])
        .arg(target_folder(&folder))
        .current_dir(&folder)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
