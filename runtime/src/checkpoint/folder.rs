//! Reading checkpoints from a local folder, without a job.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Manifest, ManifestError, StateEntry, pieces};

/// The file that makes a checkpoint valid.
pub const MANIFEST: &str = "manifest.json";

const FOLDER: &str = "checkpoint-";
const SAVEPOINT: &str = "savepoint-";
/// Numbers have at least so many.
const DIGITS: usize = 6;

/// The name of the folder of a checkpoint: `checkpoint-000012`.
pub fn folder_of(id: u64) -> String {
    format!("{FOLDER}{id:0DIGITS$}")
}

/// The name of the folder of a savepoint: `savepoint-orders-000012`. The job's retention does not know such names.
pub fn savepoint_of(job: &str, id: u64) -> String {
    format!("{SAVEPOINT}{job}-{id:0DIGITS$}")
}

/// The number of the checkpoint in a folder of this name.
pub fn number_of(folder: &str) -> Option<u64> {
    folder.strip_prefix(FOLDER)?.parse().ok()
}

/// The number of the checkpoint or savepoint in a folder of this name.
pub fn any_number_of(folder: &str) -> Option<u64> {
    // Where one of that name was there before, a short number follows.
    let number = |part: &&str| part.len() >= DIGITS && part.bytes().all(|byte| byte.is_ascii_digit());
    let of_savepoint = || folder.strip_prefix(SAVEPOINT)?.rsplit('-').take(2).find(number)?.parse().ok();
    number_of(folder).or_else(of_savepoint)
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

/// All checkpoints and savepoints in a directory, by their numbers, the greatest first; not those of which there is only what others build upon.
pub fn list(directory: &Path) -> std::io::Result<Vec<Listed>> {
    let mut listed = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if let Some(id) = entry.file_name().to_str().and_then(any_number_of) {
            let folder = entry.path();
            listed.push(Listed { id, manifest: read_manifest(&folder), folder });
        }
    }
    let manifests = listed.iter().filter_map(|checkpoint| checkpoint.manifest.as_ref().ok());
    let built_upon: HashSet<u64> = manifests.flat_map(|manifest| manifest.files.iter().filter_map(|file| file.of)).collect();
    let needed =
        |checkpoint: &Listed| checkpoint.folder.ends_with(folder_of(checkpoint.id)) && built_upon.contains(&checkpoint.id);
    listed.retain(|checkpoint| checkpoint.manifest != Err(ReadError::Incomplete) || !needed(checkpoint));
    listed.sort_by(|one, other| (other.id, &one.folder).cmp(&(one.id, &other.folder)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_numbers() {
        assert_eq!(any_number_of(&folder_of(12)), Some(12));
        assert_eq!(any_number_of(&savepoint_of("orders", 12)), Some(12));
        assert_eq!(any_number_of(&savepoint_of("orders-000007", 1_234_567)), Some(1_234_567));
        assert_eq!(any_number_of("savepoint-orders-000012-2"), Some(12));
        assert_eq!(any_number_of("savepoint-orders"), None);
        assert_eq!(any_number_of("orders-000012"), None);
        assert_eq!(number_of(&savepoint_of("orders", 12)), None);
    }
}
