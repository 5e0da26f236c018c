//! The pipelines to measure: the example queries, with another source and a sink that only counts.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Input;

/// Builds an example query for measuring, and returns the binary.
pub fn build(root: &Path, folder: &Path, query: &str, input: Input, events: u64) -> Result<PathBuf, String> {
    let place = folder.join(format!("{query}-{}", input.name()));
    let example = root.join("examples/nexmark");
    let mut shared = read(&example.join("nexmark.flow"))?;
    if input == Input::Generator {
        shared = replace_tail(&shared, "source all_events: Event from ", &generator(events), "nexmark.flow")?;
    }
    let text = read(&example.join(format!("{query}.flow")))?;
    let text = replace_tail(&text, " into file ", "blackhole {}", query)?;
    write(&place.join("nexmark.flow"), &shared)?;
    write(&place.join(format!("{query}.flow")), &text)?;
    compile(root, &place.join(format!("{query}.flow")), &place.join("pipeline"))
}

/// Writes `nexmark.flow` into a folder, with generated events.
pub fn shared(root: &Path, folder: &Path, events: u64) -> Result<(), String> {
    let text = read(&root.join("examples/nexmark/nexmark.flow"))?;
    let text = replace_tail(&text, "source all_events: Event from ", &generator(events), "nexmark.flow")?;
    write(&folder.join("nexmark.flow"), &text)
}

/// Writes generated events as JSON lines into one file, by a pipeline.
pub fn write_events(root: &Path, folder: &Path, events: u64, file: &Path) -> Result<(), String> {
    let place = folder.join("write-events");
    let shared = read(&root.join("examples/nexmark/nexmark.flow"))?;
    write(
        &place.join("nexmark.flow"),
        &replace_tail(&shared, "source all_events: Event from ", &generator(events), "nexmark.flow")?,
    )?;
    let text = "job write_events {}\n\nuse \"nexmark.flow\"\n\nsink all_events into file { path: out, format: json, existing: replace }\n";
    write(&place.join("write_events.flow"), text)?;
    let binary = compile(root, &place.join("write_events.flow"), &place.join("pipeline"))?;
    let out = place.join("out");
    run(Command::new(binary).args(["--parallelism", "1", "--quiet", "--out"]).arg(&out))?;
    let mut parts: Vec<PathBuf> = std::fs::read_dir(&out)
        .map_err(|error| format!("{}: {error}", out.display()))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.is_file() && !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')))
        .collect();
    parts.sort();
    let mut all = std::fs::File::create(file).map_err(|error| format!("{}: {error}", file.display()))?;
    for part in parts {
        let mut from = std::fs::File::open(&part).map_err(|error| format!("{}: {error}", part.display()))?;
        std::io::copy(&mut from, &mut all).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    std::fs::remove_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))
}

fn generator(events: u64) -> String {
    format!("generator {{ kind: nexmark, rows: {events}, seed: 42 }}")
}

/// Replaces what follows `marker` up to the end of its line.
fn replace_tail(text: &str, marker: &str, with: &str, what: &str) -> Result<String, String> {
    let at = text.find(marker).ok_or_else(|| format!("{what}: no `{marker}`"))? + marker.len();
    // The marker's own connector word goes too, where the marker names one.
    let start = if marker.ends_with("file ") { at - "file ".len() } else { at };
    let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
    Ok(format!("{}{with}{}", &text[..start], &text[end..]))
}

/// Builds a pipeline, optimised.
pub fn compile(root: &Path, flow: &Path, binary: &Path) -> Result<PathBuf, String> {
    // One that is built already: `MILLSTREAM=path/to/millstream`.
    let mut command = match std::env::var_os("MILLSTREAM") {
        Some(millstream) => Command::new(millstream),
        None => {
            let mut cargo = Command::new("cargo");
            cargo.args(["run", "--quiet", "--release", "--package", "millstream-cli", "--"]);
            cargo
        }
    };
    run(command.args(["build", "--release"]).arg(flow).arg("-o").arg(binary).current_dir(root))?;
    Ok(binary.to_path_buf())
}

fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a file, unless it holds the same already.
pub fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().ok_or("a file lies in a folder")?;
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
