//! The loader that reads from disk.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::session::{FoundCrate, Loader};

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

    fn find_crate(&self, file: &str, name: &str) -> Result<FoundCrate, String> {
        let folder = Path::new(file).parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Without the network; if that is not enough, with it.
        let text = metadata(folder, &["--offline"]).or_else(|_| metadata(folder, &[]))?;
        of_metadata(&text, name)
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

/// The library of this name among the packages.
fn of_metadata(text: &[u8], name: &str) -> Result<FoundCrate, String> {
    let said: serde_json::Value =
        serde_json::from_slice(text).map_err(|error| format!("`cargo metadata` cannot be read: {error}"))?;
    let packages = said["packages"].as_array().map_or(&[][..], Vec::as_slice);
    for package in packages {
        let targets = package["targets"].as_array().map_or(&[][..], Vec::as_slice);
        let is_library = |target: &&serde_json::Value| {
            let kinds = target["kind"].as_array().map_or(&[][..], Vec::as_slice);
            kinds.iter().any(|kind| matches!(kind.as_str(), Some("lib" | "rlib")))
                && target["name"].as_str().is_some_and(|own| own.replace('-', "_") == name)
        };
        let Some(target) = targets.iter().find(is_library) else { continue };
        let (package, manifest, root) = (&package["name"], &package["manifest_path"], &target["src_path"]);
        if let (Some(package), Some(manifest), Some(root)) = (package.as_str(), manifest.as_str(), root.as_str()) {
            let folder = Path::new(manifest).parent().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
            return Ok(FoundCrate { package: package.to_owned(), folder, root: root.to_owned() });
        }
    }
    Err("neither the package around this file nor anything that it depends on is a library of this name".to_owned())
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
            {"name":"tool","manifest_path":"/w/tool/Cargo.toml","targets":[{"kind":["bin"],"name":"my_functions","src_path":"/w/tool/src/main.rs"}]},
            {"name":"my-functions","manifest_path":"/w/my/Cargo.toml","targets":[{"kind":["lib"],"name":"my-functions","src_path":"/w/my/src/lib.rs"}]}
        ]}"#;
        let found = of_metadata(text, "my_functions").unwrap();
        assert_eq!((&*found.package, &*found.folder, &*found.root), ("my-functions", "/w/my", "/w/my/src/lib.rs"));
        assert!(of_metadata(text, "tool").unwrap_err().contains("neither the package around this file"));
        assert!(of_metadata(b"nonsense", "tool").is_err());
    }
}
