//! Writing files, and only those that changed: cargo goes by the time of the last change.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::BuildError;

/// Writes a file unless it has this content already. Whether it was written.
pub(super) fn write_if_changed(path: &Path, content: &str) -> Result<bool, BuildError> {
    if fs::read(path).is_ok_and(|old| old == content.as_bytes()) {
        return Ok(false);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| BuildError::io("create", folder, &error))?;
    }
    fs::write(path, content).map_err(|error| BuildError::io("write", path, &error))?;
    Ok(true)
}

/// Makes `src/` of a crate hold these files and no others.
pub(super) fn write_sources(folder: &Path, files: &BTreeMap<PathBuf, String>) -> Result<(), BuildError> {
    for (path, content) in files {
        write_if_changed(&folder.join(path), content)?;
    }
    let sources = folder.join("src");
    let entries = fs::read_dir(&sources).map_err(|error| BuildError::io("read", &sources, &error))?;
    for entry in entries.flatten() {
        let known = files.contains_key(&Path::new("src").join(entry.file_name()));
        if !known && entry.path().extension().is_some_and(|extension| extension == "rs") {
            fs::remove_file(entry.path()).map_err(|error| BuildError::io("remove", entry.path(), &error))?;
        }
    }
    Ok(())
}
