//! Reading checkpoints from a local folder, without a job.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Manifest, ManifestError, StateEntry, pieces};

/// The file that makes a checkpoint valid.
pub const MANIFEST: &str = "manifest.json";

const FOLDER: &str = "checkpoint-";

/// The name of the folder of a checkpoint: `checkpoint-000012`.
pub fn folder_of(id: u64) -> String {
    format!("{FOLDER}{id:06}")
}

/// The name of the folder of a savepoint: `savepoint-orders-000012`. The job's retention does not know such names.
pub fn savepoint_of(job: &str, id: u64) -> String {
    format!("savepoint-{job}-{id:06}")
}

/// The number of the checkpoint in a folder of this name.
pub fn number_of(folder: &str) -> Option<u64> {
    folder.strip_prefix(FOLDER)?.parse().ok()
}

/// Why a checkpoint cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// It has no manifest: it never completed.
    Incomplete,
    /// It is damaged, or cannot be read: the file and the reason.
    Damaged(String),
    /// Written by a newer version.
    Newer(u64),
}

/// A checkpoint in a directory of checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its number.
    pub id: u64,
    /// Its folder.
    pub folder: PathBuf,
    /// What its manifest says.
    pub manifest: Result<Manifest, ReadError>,
}

/// All checkpoints in a directory, the newest first; not those of which there is only what others build upon.
pub fn list(directory: &Path) -> std::io::Result<Vec<Listed>> {
    let mut listed = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if let Some(id) = entry.file_name().to_str().and_then(number_of) {
            let folder = entry.path();
            listed.push(Listed { id, manifest: read_manifest(&folder), folder });
        }
    }
    let manifests = listed.iter().filter_map(|checkpoint| checkpoint.manifest.as_ref().ok());
    let built_upon: HashSet<u64> = manifests.flat_map(|manifest| manifest.files.iter().filter_map(|file| file.of)).collect();
    listed.retain(|checkpoint| checkpoint.manifest != Err(ReadError::Incomplete) || !built_upon.contains(&checkpoint.id));
    listed.sort_by_key(|checkpoint| std::cmp::Reverse(checkpoint.id));
    Ok(listed)
}

/// The manifest of the checkpoint in this folder.
pub fn read_manifest(folder: &Path) -> Result<Manifest, ReadError> {
    let path = folder.join(MANIFEST);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(ReadError::Incomplete),
        Err(error) => return Err(ReadError::Damaged(format!("`{}` cannot be read: {error}", path.display()))),
    };
    Manifest::from_bytes(&bytes).map_err(|error| match error {
        ManifestError::Corrupt(reason) => ReadError::Damaged(format!("`{}` is damaged: {reason}", path.display())),
        ManifestError::Newer(version) => ReadError::Newer(version),
    })
}

/// A whole checkpoint: every data file is read and checked, those too that lie with other checkpoints.
pub fn read(folder: &Path) -> Result<(Manifest, Vec<StateEntry>), ReadError> {
    let manifest = read_manifest(folder)?;
    let mut entries = Vec::new();
    for file in &manifest.files {
        let path = match (file.of, folder.file_name(), folder.parent()) {
            (None, ..) => folder.join(&file.name),
            (Some(other), Some(_), Some(parent)) => parent.join(folder_of(other)).join(&file.name),
            (Some(other), ..) => folder.join("..").join(folder_of(other)).join(&file.name),
        };
        let bytes = fs::read(&path).map_err(|error| {
            let builds = if file.of.is_some() { ", on which this checkpoint builds," } else { "" };
            ReadError::Damaged(format!("`{}`{builds} cannot be read: {error}", path.display()))
        })?;
        let damaged = |reason: String| ReadError::Damaged(format!("`{}` is damaged: {reason}", path.display()));
        entries.extend(file.entries(&bytes).map_err(damaged)?);
    }
    let damaged = |reason: String| ReadError::Damaged(format!("`{}` is damaged: {reason}", folder.display()));
    let entries = pieces::whole(manifest.checkpoint, entries).map_err(damaged)?;
    Ok((manifest, entries))
}
