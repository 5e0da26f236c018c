//! Where the sockets of a user's jobs are.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Names another folder.
pub const VARIABLE: &str = "MILLSTREAM_RUN_DIR";

/// The folder: what the environment names, else `/tmp/millstream-<user id>`. Not below `XDG_RUNTIME_DIR` or `TMPDIR`: a job that a
/// service manager started would be looked for elsewhere.
pub fn folder() -> io::Result<PathBuf> {
    match std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        Some(named) => Ok(named.into()),
        None => Ok(Path::new("/tmp").join(format!("millstream-{}", user()?))),
    }
}

/// Makes the folder for this user alone. An error if it belongs to another, or others can enter it.
#[cfg(feature = "engine")]
pub(crate) fn make(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    check(folder)
}

/// Whether a folder can be trusted: only its owner, this user, can have put a socket there.
pub(crate) fn check(folder: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(folder)?;
    let denied = |reason: String| Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
    if !found.is_dir() {
        return denied(format!("`{}` is no folder", folder.display()));
    }
    let user = user()?;
    if found.uid() != user {
        return denied(format!("`{}` belongs to the user {}, not to {user}", folder.display(), found.uid()));
    }
    if found.mode() & 0o077 != 0 {
        return denied(format!("others can enter `{}`: `chmod 700` it", folder.display()));
    }
    Ok(())
}

/// The id of the user of this process.
fn user() -> io::Result<u32> {
    if let Ok(own) = fs::metadata("/proc/self") {
        return Ok(own.uid());
    }
    // A new file belongs to who makes it.
    let path = std::env::temp_dir().join(format!(".millstream-{}", std::process::id()));
    let user = File::create(&path).and_then(|file| file.metadata()).map(|file| file.uid());
    let _ = fs::remove_file(&path);
    user
}

#[cfg(all(test, feature = "engine"))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_a_folder_of_ones_own_is_trusted() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("a/b");
        make(&folder).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(make(&folder).unwrap_err().to_string().contains("chmod 700"));
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(check(&file).is_err());
    }
}
