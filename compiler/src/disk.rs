//! The loader that reads from disk.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::session::{Library, Loader};

/// Larger files are no pipelines.
const LARGEST: u64 = 16 << 20;

/// Reads files.
#[derive(Clone, Copy, Debug)]
pub struct Disk;

impl Loader for Disk {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        let size = std::fs::metadata(path).map_err(|error| reason(&error))?;
        if size.is_dir() {
            return Err("it is a folder".to_owned());
        }
        if size.len() > LARGEST {
            return Err(format!("it has {} MB; a pipeline has at most {}", size.len() >> 20, LARGEST >> 20));
        }
        std::fs::read(path).map_err(|error| reason(&error))
    }

    fn libraries(&self, file: &str) -> Result<Vec<Library>, String> {
        let folder = Path::new(file).parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Without the network; if that is not enough, with it.
        let text = metadata(folder, &["--offline"]).or_else(|_| metadata(folder, &[]))?;
        of_metadata(&text)
    }
}

/// What cargo says of the package that a folder belongs to, and of all that it depends on.
fn metadata(folder: &Path, more: &[&str]) -> Result<Vec<u8>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1"])
        .args(more)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or("it does not say why");
    Err(match first.contains("could not find `Cargo.toml`") {
        true => "no package is around this file: there is no Cargo.toml in its folder or in one above it".to_owned(),
        false => format!("`cargo metadata` fails: {first}"),
    })
}

/// The libraries among the packages, macros aside, with the features that they have there. What the package around calls by another name
/// (`other = { package = "my-functions" }`) comes first, under that name.
fn of_metadata(text: &[u8]) -> Result<Vec<Library>, String> {
    let said: Value = serde_json::from_slice(text).map_err(|error| format!("`cargo metadata` cannot be read: {error}"))?;
    let is_library = |target: &Value| list(&target["kind"]).any(|kind| matches!(kind.as_str(), Some("lib" | "rlib")));
    let nodes = || list(&said["resolve"]["nodes"]);
    // The package around the file; in the root of a workspace that is none, all of its members.
    let root = &said["resolve"]["root"];
    let around: Vec<&Value> = match root.is_string() {
        true => vec![root],
        false => list(&said["workspace_members"]).collect(),
    };
    let of_package = |package: &Value| {
        let target = list(&package["targets"]).find(|target| is_library(target))?;
        let folder = Path::new(package["manifest_path"].as_str()?).parent()?.to_string_lossy().into_owned();
        let asked = list(&said["packages"]).filter(|user| root.is_string() && user["id"] == *root);
        let asked = asked.flat_map(|user| list(&user["dependencies"])).find(|asked| is_of(asked, package));
        let features = match asked {
            // What others of the workspace turn on is theirs.
            Some(asked) => turned_on(asked, package),
            None => nodes().find(|node| node["id"] == package["id"]).map(|own| texts(&own["features"])).unwrap_or_default(),
        };
        Some(Library {
            name: target["name"].as_str()?.replace('-', "_"),
            package: package["name"].as_str()?.to_owned(),
            folder,
            root: target["src_path"].as_str()?.to_owned(),
            features,
        })
    };
    let all: Vec<(&Value, Library)> =
        list(&said["packages"]).filter_map(|package| Some((&package["id"], of_package(package)?))).collect();
    let users = nodes().filter(|node| around.contains(&&node["id"]));
    let renamed = users.flat_map(|node| list(&node["deps"])).filter_map(|dependency| {
        let name = dependency["name"].as_str()?;
        let (_, library) = all.iter().find(|(id, _)| **id == dependency["pkg"])?;
        (library.name != name).then(|| Library { name: name.to_owned(), ..library.clone() })
    });
    let mut libraries: Vec<Library> = renamed.collect();
    libraries.extend(all.iter().map(|(_, library)| library.clone()));
    Ok(libraries)
}

/// Whether an entry of `[dependencies]` is this package.
fn is_of(asked: &Value, package: &Value) -> bool {
    let lies_there = match (asked["path"].as_str(), package["manifest_path"].as_str()) {
        (Some(path), Some(manifest)) => Path::new(manifest).parent() == Some(Path::new(path)),
        (Some(_), None) => false,
        (None, _) => true,
    };
    asked["name"] == package["name"] && asked["kind"].is_null() && lies_there
}

/// The features that an entry of `[dependencies]` turns on, and those that follow from them.
fn turned_on(asked: &Value, package: &Value) -> Vec<String> {
    let mut open = texts(&asked["features"]);
    if asked["uses_default_features"] != Value::Bool(false) {
        open.push("default".to_owned());
    }
    let mut on = Vec::new();
    while let Some(feature) = open.pop() {
        if package["features"].get(&feature).is_some() && !on.contains(&feature) {
            open.extend(texts(&package["features"][&feature]));
            on.push(feature);
        }
    }
    on.sort();
    on
}

fn texts(value: &Value) -> Vec<String> {
    list(value).filter_map(Value::as_str).map(str::to_owned).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_found_by_the_name_that_rust_has_for_them() {
        let text = br#"{"packages":[
            {"id":"tool","name":"tool","manifest_path":"/w/tool/Cargo.toml","dependencies":[
                {"name":"my-functions","rename":"other","kind":null,"path":"/w/my","uses_default_features":false,"features":["geo"]}
            ],"targets":[{"kind":["bin"],"name":"my_functions","src_path":"/w/tool/src/main.rs"}]},
            {"id":"my","name":"my-functions","manifest_path":"/w/my/Cargo.toml","features":
                {"default":["plain"],"plain":[],"geo":["deep","dep:x"],"deep":[]},"targets":[{"kind":["lib"],"name":"my-functions","src_path":"/w/my/src/lib.rs"}]}
        ],"resolve":{"root":"tool","nodes":[
            {"id":"tool","features":[],"deps":[{"name":"other","pkg":"my"}]},
            {"id":"my","features":["default","plain","geo","deep"],"deps":[]}
        ]}}"#;
        let own = Library {
            name: "my_functions".to_owned(),
            package: "my-functions".to_owned(),
            folder: "/w/my".to_owned(),
            root: "/w/my/src/lib.rs".to_owned(),
            // As the package around asks for it, whatever others of the workspace do.
            features: vec!["deep".to_owned(), "geo".to_owned()],
        };
        // A binary is no library. The package around calls the library by another name.
        let renamed = Library { name: "other".to_owned(), ..own.clone() };
        assert_eq!(of_metadata(text), Ok(vec![renamed, own]));
        assert!(of_metadata(b"nonsense").is_err());
    }
}
