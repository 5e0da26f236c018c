//! The `.flow` files of the repository, for tests that go through all of them.

use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All `.flow` files below a folder, in order. What is hidden or built does not count.
pub fn flow_files(folder: &Path) -> Vec<PathBuf> {
    let mut list = Vec::new();
    for entry in std::fs::read_dir(folder).expect("folder").flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            list.extend(flow_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "flow") {
            list.push(path);
        }
    }
    list.sort();
    list
}
