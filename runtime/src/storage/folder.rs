//! Folders that survive a power cut.

use std::fs::{self, File};
use std::path::Path;

/// Makes a folder and those that it is in. All of them are there after a power cut: each is synced into the one that it is in.
pub(crate) fn create_durably(path: &Path) -> std::io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = path.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
    // Where a file is in the way, the system says so below.
    if let Some(parent) = parent.filter(|parent| !parent.exists()) {
        create_durably(parent)?;
    }
    match fs::create_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && path.is_dir() => {}
        done => done?,
    }
    match parent {
        Some(parent) => sync_folder(parent),
        None => Ok(()),
    }
}

/// Names in this folder are on disk: a file that was synced may still be without one.
pub(crate) fn sync_folder(path: &Path) -> std::io::Result<()> {
    File::open(path)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_made_at_any_depth_and_may_be_there() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b/c");
        create_durably(&deep).unwrap();
        create_durably(&deep).unwrap();
        assert!(deep.is_dir());
        fs::write(deep.join("file"), "").unwrap();
        assert!(create_durably(&deep.join("file")).is_err());
        assert!(create_durably(&deep.join("file/below")).is_err());
    }
}
