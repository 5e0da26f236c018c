//! Where generated crates and their build results lie.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::BuildError;

/// The cache folder: `$MILLSTREAM_HOME`, else `millstream` in the user's cache folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// A cache in this folder.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Cache { root: root.into() }
    }

    /// The cache that the environment names.
    pub fn from_environment() -> Result<Self, BuildError> {
        let path = |name: &str| std::env::var_os(name).filter(|value: &OsString| !value.is_empty()).map(PathBuf::from);
        let root = path("MILLSTREAM_HOME")
            .or_else(|| path("XDG_CACHE_HOME").filter(|path| path.is_absolute()).map(|path| path.join("millstream")))
            .or_else(|| path("HOME").map(|path| path.join(".cache/millstream")))
            .or_else(|| path("LOCALAPPDATA").map(|path| path.join("millstream")))
            .unwrap_or_else(|| std::env::temp_dir().join("millstream"));
        let root = std::path::absolute(&root).map_err(|error| BuildError::io("find", &root, &error))?;
        Ok(Cache { root })
    }

    /// The folder of one pipeline's crate.
    pub(super) fn crate_folder(&self, package: &str) -> PathBuf {
        self.root.join("crates").join(package)
    }

    /// The target folder of all pipelines that are built with this toolchain. Runtimes of several checkouts share it, and
    /// with it the crates that they depend on: cargo keeps packages of different folders apart.
    pub(super) fn target_folder(&self, toolchain: &str) -> PathBuf {
        let key = xxh3_64(toolchain.as_bytes());
        self.root.join("target").join(format!("{}-{key:016x}", env!("CARGO_PKG_VERSION")))
    }
}

/// The name of the package and of the binary of a pipeline: unique on this machine, so that two pipelines of one name
/// never run each other's binary. `word_count-3f2a9c01b2`
pub(super) fn package_name(job: &str, source: &Path) -> String {
    let path = source.canonicalize().or_else(|_| std::path::absolute(source)).unwrap_or_else(|_| source.to_path_buf());
    let hash = xxh3_64(path.as_os_str().as_encoded_bytes());
    format!("{job}-{:010x}", hash >> 24)
}

/// The folder of the crate that generated crates depend on.
pub(super) fn runtime_folder() -> Result<PathBuf, BuildError> {
    let path = match std::env::var_os("MILLSTREAM_RUNTIME").filter(|value| !value.is_empty()) {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/millstream"),
    };
    match path.canonicalize() {
        Ok(found) if found.join("Cargo.toml").is_file() => Ok(found),
        _ => Err(BuildError::no_runtime(&path)),
    }
}
