//! The steps from a generated crate to a binary.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::cargo::{Progress, Run, toolchain};
use super::{BuildError, Cache, cache, files, lock, manifest};
use crate::codegen::GeneratedCrate;

/// What to build.
#[derive(Clone, Copy, Debug)]
pub struct BuildRequest<'a> {
    /// The crate.
    pub generated: &'a GeneratedCrate,
    /// The `.flow` file that it comes from: gives the package its unique name.
    pub source: &'a Path,
    /// How far rustc goes.
    pub profile: Profile,
}

/// How a pipeline is optimised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Optimised, and rebuilt in about a second after an edit.
    Flow,
    /// One codegen unit: the fastest binary.
    Release,
    /// The pipeline is not optimised, what it depends on is: for tests, which build much and run it once.
    Quick,
}

impl Profile {
    /// As cargo calls it.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Flow | Profile::Quick => "flow",
            Profile::Release => "release",
        }
    }
}

/// A binary, and how it came about.
#[derive(Clone, Debug)]
pub struct Built {
    /// The binary in the cache.
    pub binary: PathBuf,
    /// The folder of the generated crate.
    pub folder: PathBuf,
    /// Packages that were compiled now; empty if nothing had changed.
    pub compiled: Vec<String>,
    /// Units that were up to date.
    pub fresh: usize,
    /// What rustc warns about in generated code; a mistake of the compiler, if there is any.
    pub warnings: Vec<String>,
    /// What rustc warns about in Rust files of the user.
    pub rust_warnings: Vec<String>,
}

/// Builds a pipeline. Safe to call at the same time for the same or for other pipelines, in this or in other processes.
pub fn build(request: &BuildRequest<'_>, cache: &Cache, watch: &mut dyn FnMut(Progress)) -> Result<Built, BuildError> {
    let runtime = cache::runtime_folder()?;
    let package = cache::package_name(&request.generated.package, request.source);
    let folder = cache.crate_folder(&package);
    fs::create_dir_all(&folder).map_err(|error| BuildError::io("create", &folder, &error))?;
    let _lock = lock_folder(&folder, watch)?;
    write(request.generated, &folder, &package, &runtime)?;
    let target = cache.target_folder(&toolchain()?);
    let run =
        Run { folder: &folder, target: &target, package: &package, profile: request.profile, rust: &request.generated.rust };
    let outcome = run.build(watch)?;
    let binary = match outcome.executable {
        Some(binary) => binary,
        None => target.join(request.profile.name()).join(format!("{package}{}", std::env::consts::EXE_SUFFIX)),
    };
    Ok(Built {
        binary,
        folder,
        compiled: outcome.compiled,
        fresh: outcome.fresh,
        warnings: outcome.warnings,
        rust_warnings: outcome.rust_warnings,
    })
}

/// Leaves the crate in a folder of the user's, ready for `cargo build`.
pub fn emit_into(generated: &GeneratedCrate, folder: &Path) -> Result<(), BuildError> {
    let runtime = cache::runtime_folder()?;
    fs::create_dir_all(folder).map_err(|error| BuildError::io("create", folder, &error))?;
    write(generated, folder, &generated.package, &runtime)
}

fn write(generated: &GeneratedCrate, folder: &Path, package: &str, runtime: &Path) -> Result<(), BuildError> {
    files::write_if_changed(
        &folder.join("Cargo.toml"),
        &manifest::manifest(package, runtime, &generated.features, &generated.crates),
    )?;
    lock::write(folder, package, runtime)?;
    files::write_sources(folder, &generated.files)
}

/// Keeps other builds of the same pipeline out until dropped.
fn lock_folder(folder: &Path, watch: &mut dyn FnMut(Progress)) -> Result<File, BuildError> {
    let path = folder.join(".build-lock");
    let failed = |error: std::io::Error| BuildError::io("lock", &path, &error);
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    if file.try_lock().is_err() {
        watch(Progress::Waiting);
        file.lock().map_err(failed)?;
    }
    Ok(file)
}
