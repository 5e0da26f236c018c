//! The sink `file`: folders with strange names, that cannot be written to, on another device; a full disk.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use super::{Job, Kill, stderr, support};

static JOB: LazyLock<Job> = LazyLock::new(|| Job::build("to_files", "file { path: out, format: json }", 30_000));

fn device(path: &str) -> Option<u64> {
    std::fs::metadata(path).ok().map(|data| data.dev())
}

#[test]
fn a_folder_may_have_any_name_and_is_made_where_it_is_missing() {
    for name in ["plain", "with spaces: and/colons: too", "ünïcödé/日本/🦀", "it's \"quoted\" {x} %41 *?[a]", "-dash"] {
        let out = JOB.folder.join("named").join(name);
        let output = JOB.run(&["--out", out.to_str().unwrap()]);
        support::assert_success(&output, name);
        JOB.assert_all_once(&out, name);
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), JOB_PARTS, "{name}: leftovers");
    }
}

/// Files at parallelism 1.
const JOB_PARTS: usize = 1;

/// C62
#[test]
fn a_folder_that_cannot_be_written_to_is_refused_at_the_start() {
    let folder = JOB.folder.join("refused");
    std::fs::create_dir_all(&folder).unwrap();
    symlink("/nonexistent/place", folder.join("dangling")).unwrap();
    std::fs::write(folder.join("file"), "").unwrap();
    for (name, reason) in [
        ("dangling", "is a link to `/nonexistent/place`, which is not there"),
        ("file", "is a file"),
        ("file/below", "Not a directory (os error 20)"),
    ] {
        let out = folder.join(name);
        let output = JOB.run(&["--out", out.to_str().unwrap()]);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(&out.display().to_string()) && message.contains(reason), "{message}");
    }
}

/// C62, as somebody to whom permissions apply.
#[test]
fn a_folder_that_is_read_only_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    for file in ["to_files", "rows.jsonl"] {
        std::fs::copy(JOB.folder.join(file), folder.path().join(file)).unwrap();
    }
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    std::fs::set_permissions(&out, PermissionsExt::from_mode(0o555)).unwrap();
    let mut command = Command::new(folder.path().join("to_files"));
    command.args(["--out", out.to_str().unwrap()]).current_dir(folder.path());
    if folder.path().metadata().unwrap().uid() == 0 {
        command.uid(65534);
    }
    let output = command.output().unwrap();
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    let expected = format!("cannot write to the output folder `{}`: Permission denied (os error 13)", out.display());
    assert!(message.contains(&expected), "{message}");
}

/// C62: staged files are in the target itself, wherever temporary files go otherwise: a rename never crosses devices.
#[test]
fn temporary_folder_and_target_may_be_on_different_devices() {
    let here = JOB.folder.to_str().unwrap();
    if device("/dev/shm").is_none() || device("/dev/shm") == device(here) {
        eprintln!("skipped: there is no second device");
        return;
    }
    let shm = tempfile::tempdir_in("/dev/shm").unwrap();
    for (temporary, out) in [(shm.path(), JOB.folder.join("devices")), (Path::new(here), shm.path().join("out"))] {
        let output = JOB.command(&["--out", out.to_str().unwrap()]).env("TMPDIR", temporary).output().unwrap();
        support::assert_success(&output, "another device");
        JOB.assert_all_once(&out, "another device");
    }
}

/// A limit on the size of files stands for a full disk where none can be mounted.
#[test]
fn a_disk_that_is_full_ends_the_job_with_the_path_and_the_next_start_writes_everything() {
    let out = JOB.folder.join("limited");
    let script = "trap '' XFSZ; ulimit -f 100; exec \"$@\"";
    let output = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(&JOB.binary)
        .args(["--out", out.to_str().unwrap()])
        .current_dir(&JOB.folder)
        .output()
        .unwrap();
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("cannot write `") && message.contains("File too large (os error 27)"), "{message}");
    assert!(message.contains(&out.display().to_string()), "{message}");
    assert_eq!(JOB.written(&out), [0; 0], "nothing of a run that failed is seen");
    support::assert_success(&JOB.run(&["--out", out.to_str().unwrap()]), "with room");
    JOB.assert_all_once(&out, "with room");
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), JOB_PARTS, "what the failed run had staged is gone");
}

/// A real full disk: the job waits for room, and then every row is there once.
#[test]
fn a_job_with_checkpoints_outlives_a_full_disk() {
    let disk = Mount::new(&JOB.folder.join("disk"), "1m");
    let Some(disk) = disk else {
        eprintln!("skipped: no file system can be mounted here");
        return;
    };
    let (out, checkpoints) = (disk.0.join("out"), JOB.folder.join("disk-checkpoints"));
    let args = ["--out", out.to_str().unwrap(), "--checkpoint-dir", checkpoints.to_str().unwrap()];
    let args = [&args[..], &["--checkpoint-interval", "50ms", "--rate", "30000"]].concat();
    let mut child = Kill(JOB.command(&args).stderr(Stdio::piped()).spawn().unwrap());
    let mut said = BufReader::new(child.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    let full = said.find(|line| line.contains("No space left on device")).expect("the disk is too small");
    assert!(full.contains("cannot write `") && full.contains(out.to_str().unwrap()), "{full}");
    // Whoever watches the folder sees whole files.
    assert!(!JOB.written(&out).is_empty());
    disk.resize("50m");
    let rest: Vec<_> = said.collect();
    let status = child.0.wait().unwrap();
    assert!(status.success(), "{status}: {rest:?}");
    JOB.assert_all_once(&out, "after the disk was full");
}

/// The same for the disk of the checkpoints: somebody fills it, and makes room again.
#[test]
fn checkpoints_wait_for_a_disk_that_is_full() {
    let Some(disk) = Mount::new(&JOB.folder.join("checkpoint-disk"), "4m") else {
        eprintln!("skipped: no file system can be mounted here");
        return;
    };
    let (out, checkpoints, ballast) = (JOB.folder.join("out-of-full"), disk.0.join("checkpoints"), disk.0.join("ballast"));
    let args = ["--out", out.to_str().unwrap(), "--checkpoint-dir", checkpoints.to_str().unwrap()];
    let args = [&args[..], &["--checkpoint-interval", "50ms", "--rate", "30000"]].concat();
    let mut child = Kill(JOB.command(&args).stderr(Stdio::piped()).spawn().unwrap());
    let mut said = BufReader::new(child.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    support::wait_for("the lease", || checkpoints.join(".lease-000001").exists());
    // Until nothing more goes in.
    let mut filled = std::fs::File::create(&ballast).unwrap();
    for size in [65536, 4096, 1] {
        while std::io::Write::write_all(&mut filled, &vec![1; size]).is_ok() {}
    }
    let full = said.find(|line| line.contains("No space left on device")).expect("it has said nothing of the full disk");
    assert!(full.contains("cannot write `") && full.contains(checkpoints.to_str().unwrap()), "{full}");
    std::fs::remove_file(&ballast).unwrap();
    drop(filled);
    let rest: Vec<_> = said.collect();
    let status = child.0.wait().unwrap();
    assert!(status.success(), "{status}: {full}, {rest:?}");
    JOB.assert_all_once(&out, "after the disk of the checkpoints was full");
}

/// A small file system in memory, gone at the end.
struct Mount(PathBuf);

impl Mount {
    fn new(folder: &Path, size: &str) -> Option<Self> {
        std::fs::create_dir_all(folder).unwrap();
        let options = format!("size={size}");
        let output = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder).output().ok()?;
        output.status.success().then(|| Mount(folder.to_owned()))
    }

    fn resize(&self, size: &str) {
        let options = format!("remount,size={size}");
        let status = Command::new("mount").args(["-o", &options]).arg(&self.0).status().unwrap();
        assert!(status.success());
        // The next attempt of the job may come at any time from here.
        std::thread::sleep(Duration::from_millis(10));
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
