//! What tests look at.

use std::path::Path;

/// All rows in the files of a folder, in order. None where there is no folder yet.
pub fn rows(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        path.is_file() && !name.starts_with(['.', '_'])
    });
    let mut rows: Vec<String> =
        files.flat_map(|file| std::fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    rows.sort();
    rows
}
