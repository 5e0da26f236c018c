//! Pipelines in a program, compiled by its build script: all `.flow` files of a folder become modules.
//!
//! ```no_run
//! // build.rs
//! millstream_build::compile("pipelines");
//! ```
//!
//! ```ignore
//! // main.rs
//! millstream::include_pipelines!("pipelines");
//! ```
//!
//! The modules are those that `include_flow!` makes, called like the jobs. The program itself does not depend on the compiler.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use millstream_compiler::diagnostics::Severity;
use millstream_compiler::diagnostics::render::{Style, render_all};
use millstream_compiler::disk::Disk;
use millstream_compiler::embed::{self, Embedded};

/// Compiles a folder, for a build script: leaves `<folder>.rs` in `OUT_DIR`, and tells cargo which files it depends on.
///
/// With mistakes in a pipeline it shows them all on standard error, as on the command line, and ends the build.
pub fn compile(folder: impl AsRef<Path>) {
    let folder = folder.as_ref();
    let Some(out) = std::env::var_os("OUT_DIR") else {
        fail("millstream_build::compile is for build scripts: cargo sets OUT_DIR for them");
    };
    match compile_to(folder, Path::new(&out)) {
        Ok(compiled) => {
            for file in [folder].into_iter().chain(compiled.files.iter().map(PathBuf::as_path)) {
                println!("cargo::rerun-if-changed={}", file.display());
            }
            for warning in &compiled.warnings {
                println!("cargo::warning={warning}");
            }
        }
        Err(message) => fail(&message),
    }
}

fn fail(message: &str) -> ! {
    eprintln!("{message}");
    std::process::exit(1)
}

/// What was compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// The file with the modules.
    pub output: PathBuf,
    /// The modules in it, in order.
    pub modules: Vec<String>,
    /// All files that were read.
    pub files: Vec<PathBuf>,
    /// Warnings, one line each.
    pub warnings: Vec<String>,
}

/// The same with a folder of one's choice for the output, and mistakes as text.
///
/// Files in folders below count too. One without a sink is there to be used by others: it is checked, and makes no module.
pub fn compile_to(folder: &Path, out: &Path) -> Result<Compiled, String> {
    let mut pipelines = Vec::new();
    find(folder, &mut pipelines)?;
    if pipelines.is_empty() {
        return Err(format!("error: no .flow file is in {}", folder.display()));
    }
    pipelines.sort();
    let mut compiled = Compiled { output: output(folder, out), modules: Vec::new(), files: Vec::new(), warnings: Vec::new() };
    let (mut text, mut mistakes, mut named) = (String::new(), String::new(), BTreeMap::<String, PathBuf>::new());
    for path in pipelines {
        let embedded = match embed::compile(&path.to_string_lossy(), &Disk, embed::Place::Folder) {
            Ok(embedded) => embedded,
            Err(error) => {
                let _ = writeln!(mistakes, "error: {error}");
                continue;
            }
        };
        compiled.files.extend(embedded.sources.files().map(|(_, file)| PathBuf::from(&file.path)));
        match &embedded.module {
            // There for others to use.
            None if !embedded.diagnostics.iter().any(|found| found.severity == Severity::Error) => {}
            None => mistakes.push_str(&render_all(&embedded.diagnostics, &embedded.sources, Style::Plain)),
            Some(module) => {
                for warning in warnings(&embedded) {
                    // Of a file that several pipelines use: once.
                    if !compiled.warnings.contains(&warning) {
                        compiled.warnings.push(warning);
                    }
                }
                match named.get(&module.name) {
                    Some(first) => {
                        let (first, second, name) = (first.display(), path.display(), &module.name);
                        let _ = writeln!(mistakes, "error: {first} and {second} both have a job `{name}`: give one another name");
                    }
                    None => {
                        text.push_str(&module.text);
                        text.push('\n');
                        compiled.modules.push(module.name.clone());
                    }
                }
                named.entry(module.name.clone()).or_insert(path);
            }
        }
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    compiled.files.sort();
    compiled.files.dedup();
    write_if_changed(&compiled.output, &text)
        .map_err(|error| format!("error: cannot write {}: {error}", compiled.output.display()))?;
    Ok(compiled)
}

/// `OUT_DIR/pipelines.rs` for `some/pipelines`.
fn output(folder: &Path, out: &Path) -> PathBuf {
    let name = folder.file_name().map_or_else(|| "pipelines".to_owned(), |name| name.to_string_lossy().into_owned());
    out.join(format!("{name}.rs"))
}

fn find(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("error: cannot read the folder {}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            find(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "flow") {
            found.push(path);
        }
    }
    Ok(())
}

/// `pipelines/orders.flow:3:8: the stream `x` reaches no sink [W0202]`
fn warnings(embedded: &Embedded) -> impl Iterator<Item = String> {
    embedded.diagnostics.iter().filter(|found| found.severity == Severity::Warning).map(|found| {
        let file = embedded.sources.file(found.primary.span.file);
        let (line, column) = file.line_column(found.primary.span.start);
        format!("{}:{line}:{column}: {} [{}]", file.path, found.title, found.code.0)
    })
}

/// Rust is compiled again only if there is something new in it.
fn write_if_changed(path: &Path, text: &str) -> std::io::Result<()> {
    if std::fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    std::fs::write(path, text)
}
