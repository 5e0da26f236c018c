//! Small file systems in memory, which can be full, and read-only also for root.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Says to the process of a test that it may mount.
const MAY_MOUNT: &str = "MILLSTREAM_TEST_MAY_MOUNT";

/// A small file system, gone at the end.
pub struct Mount(pub PathBuf);

impl Mount {
    pub fn new(folder: &Path, size: &str) -> Option<Self> {
        std::fs::create_dir_all(folder).unwrap();
        let options = format!("size={size}");
        let output = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder).output().ok()?;
        output.status.success().then(|| Mount(folder.to_owned()))
    }

    /// Lets nobody write there, whoever has files open, as long as what it gives is there.
    pub fn read_only(&self) -> Mount {
        // A mount with files that are open for writing is busy; one that covers it has none.
        let mount = |args: &[&str]| {
            let status = Command::new("mount").args(args).arg(&self.0).status().unwrap();
            assert!(status.success(), "{args:?}");
        };
        mount(&["--bind", self.0.to_str().unwrap()]);
        mount(&["-o", "remount,bind,ro"]);
        Mount(self.0.clone())
    }

    /// Leaves no room for a byte. What takes it.
    pub fn fill(&self) -> PathBuf {
        let ballast = self.0.join("ballast");
        let mut filled = std::fs::File::create(&ballast).unwrap();
        for size in [65536, 4096, 1] {
            while std::io::Write::write_all(&mut filled, &vec![1; size]).is_ok() {}
        }
        ballast
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Runs a test that mounts; who may not mount runs it in a process that is root of a namespace of its own.
pub fn mounting(test: &str, body: impl FnOnce()) {
    let folder = tempfile::tempdir().unwrap();
    if std::env::var(MAY_MOUNT).is_ok() || Mount::new(folder.path(), "1m").is_some() {
        return body();
    }
    let alone = ["--user", "--map-root-user", "--mount"];
    if !Command::new("unshare").args(alone).arg("true").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    let own = std::env::current_exe().unwrap();
    let mut child = Command::new("unshare");
    child.args(alone).arg(own).args(["--exact", test, "--nocapture"]).env(MAY_MOUNT, "1");
    assert!(child.status().unwrap().success());
}
