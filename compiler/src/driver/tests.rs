//! Files in the cache: what is written, and what is left alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::emit_into;
use crate::codegen::GeneratedCrate;

fn generated(files: &[(&str, &str)]) -> GeneratedCrate {
    let files: BTreeMap<PathBuf, String> = files.iter().map(|(path, text)| (PathBuf::from(path), text.to_string())).collect();
    GeneratedCrate {
        package: "word_count".into(),
        files,
        features: Default::default(),
        rust: Default::default(),
        crates: Default::default(),
    }
}

#[test]
fn unchanged_files_keep_their_time_and_old_ones_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let modified = |path: &str| std::fs::metadata(folder.path().join(path)).and_then(|data| data.modified()).ok();
    emit_into(&generated(&[("src/main.rs", "fn main() {}\n"), ("src/a.rs", "1\n")]), folder.path()).expect("written");
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
    let main = std::fs::File::options().write(true).open(folder.path().join("src/main.rs")).expect("it is there");
    main.set_modified(long_ago).expect("its time can be set");
    assert!(modified("src/a.rs").is_some());
    emit_into(&generated(&[("src/main.rs", "fn main() {}\n"), ("src/b.rs", "2\n")]), folder.path()).expect("written");
    assert_eq!(modified("src/main.rs"), Some(long_ago));
    assert!(modified("src/a.rs").is_none() && modified("src/b.rs").is_some());
    let lock = std::fs::read_to_string(folder.path().join("Cargo.lock")).expect("a lock file");
    assert!(lock.contains("name = \"word_count\""));
}

#[test]
fn equal_names_in_other_folders_are_other_packages() {
    let name = |path: &str| super::cache::package_name("q1", Path::new(path));
    assert_ne!(name("/a/q1.flow"), name("/b/q1.flow"));
    assert_eq!(name("/a/q1.flow"), name("/a/q1.flow"));
    assert!(name("/a/q1.flow").starts_with("q1-"));
}
