//! Real storage that fails under real processes: damaged, read-only, full, without permission, used by two at once. Each is said with its
//! place, and every row counts once when it works again.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::bad_conditions::as_nobody;
use super::job::{Setup, output, wait_for};
use super::kill::{KEEP, Kill, PATIENT, command};
use super::mount::{Mount, mounting};

fn settings(setup: &Setup, rate: &str) -> Vec<String> {
    let checkpoints = setup.path("checkpoints");
    setup.args(&["--checkpoint-dir", &checkpoints, "--checkpoint-interval", "30ms", "--rate", rate, "--parallelism", "2"])
}

/// Checkpoints with a manifest, in their order.
fn complete(setup: &Setup) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(setup.path("checkpoints")).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut folders: Vec<_> = folders.filter(|folder| folder.join("manifest.json").exists()).collect();
    folders.sort();
    folders
}

/// Killed behind at least three checkpoints, of which it keeps three.
fn killed(setup: &Setup) -> Vec<PathBuf> {
    let mut child = Kill(command(&settings(setup, "8000")).env(KEEP, "3").stderr(Stdio::null()).spawn().unwrap());
    wait_for("three checkpoints", || complete(setup).len() >= 3 || child.0.try_wait().unwrap().is_some());
    child.0.kill().unwrap();
    child.0.wait().unwrap();
    complete(setup)
}

fn state_file(folder: &Path) -> PathBuf {
    let mut files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.find(|path| path.extension().is_some_and(|extension| extension == "state")).unwrap()
}

fn cut(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    std::fs::write(path, &bytes[..bytes.len() - 1]).unwrap();
}

/// C75: what is torn, empty, flipped, or gone of the newest checkpoint is named, the one before it is taken, and what sinks have committed
/// behind that is taken back: every row counts once.
#[test]
fn the_one_before_a_damaged_checkpoint_is_taken_and_every_row_counts_once() {
    type Damage = fn(&Path) -> PathBuf;
    let damages: [(&str, Damage); 4] = [
        ("its end is missing", |folder| {
            cut(&folder.join("manifest.json"));
            folder.join("manifest.json")
        }),
        ("it is empty", |folder| {
            std::fs::write(folder.join("manifest.json"), "").unwrap();
            folder.join("manifest.json")
        }),
        ("its checksum is wrong", |folder| {
            let file = state_file(folder);
            let mut bytes = std::fs::read(&file).unwrap();
            bytes[10] = !bytes[10];
            std::fs::write(&file, bytes).unwrap();
            file
        }),
        ("is missing", |folder| {
            let file = state_file(folder);
            std::fs::remove_file(&file).unwrap();
            file
        }),
    ];
    for (reason, damage) in damages {
        let setup = Setup::new(20_000, 2);
        let folders = killed(&setup);
        let [.., before, newest] = folders.as_slice() else { panic!("{folders:?}") };
        let file = damage(newest);
        let ended = command(&settings(&setup, "1000000000")).env(KEEP, "3").output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(ended.status.success(), "{reason}: {said}");
        let warned = "warning: a checkpoint cannot be used and the one before it is taken: ";
        let line = said.lines().find(|line| line.starts_with(warned)).unwrap_or_else(|| panic!("{reason}: {said}"));
        assert!(line.contains(&format!("`{}`", file.display())) && line.contains(reason), "{line}");
        let number: u64 = before.file_name().unwrap().to_str().unwrap().rsplit('-').next().unwrap().parse().unwrap();
        assert!(said.contains(&format!("counts: resuming from checkpoint {number}")), "{reason}: {said}");
        setup.check();
    }
}

/// C75, as somebody to whom permissions apply: it may be whole, so nothing older is taken in its place.
#[test]
fn a_checkpoint_that_may_not_be_read_is_named_and_nothing_begins_without_it() {
    let setup = Setup::new(10_000, 2);
    for folder in [setup.folder.path().to_owned(), setup.out(), setup.path("checkpoints").into()] {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o777)).unwrap();
    }
    let run = |rate: &str| {
        let mut command = command(&settings(&setup, rate));
        command.env(KEEP, "3");
        as_nobody(command, &setup)
    };
    let mut child = Kill(run("8000").stderr(Stdio::null()).spawn().unwrap());
    wait_for("two checkpoints", || complete(&setup).len() >= 2 || child.0.try_wait().unwrap().is_some());
    child.0.kill().unwrap();
    child.0.wait().unwrap();
    let newest = complete(&setup).pop().unwrap();
    std::fs::set_permissions(&newest, PermissionsExt::from_mode(0o000)).unwrap();
    let before = output(&setup.out());
    let ended = run("1000000000").output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    let name = newest.file_name().unwrap().to_str().unwrap();
    let reason = format!("`{name}/manifest.json` cannot be read: Permission denied (os error 13)");
    let expected = format!("cannot take the lease of the checkpoint directory `{}`: {reason}", setup.path("checkpoints"));
    assert!(said.contains(&expected), "{said}");
    assert_eq!(output(&setup.out()), before, "nothing was touched");
    std::fs::set_permissions(&newest, PermissionsExt::from_mode(0o755)).unwrap();
    let file = state_file(&newest);
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o000)).unwrap();
    let ended = run("1000000000").output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    let expected = format!("may be whole, but `{}` cannot be read: Permission denied (os error 13)", file.display());
    assert!(ended.status.code() == Some(1) && said.contains(&expected), "{said}");
    assert!(said.contains("start again when the storage works; or ") && said.contains("--fresh"), "{said}");
    assert_eq!(output(&setup.out()), before, "nothing was touched");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    assert!(run("1000000000").status().unwrap().success());
    setup.check();
}

/// The file system of the checkpoints is read-only: at the start, and all at once in the middle of a run, as a disk does that has failed.
#[test]
fn a_file_system_that_is_read_only_is_said_and_waited_for() {
    mounting("failed_storage::a_file_system_that_is_read_only_is_said_and_waited_for", || {
        let setup = Setup::new(30_000, 3);
        let checkpoints = setup.path("checkpoints");
        let disk = Mount::new(Path::new(&checkpoints), "32m").unwrap();
        let read_only = disk.read_only();
        let ended = command(&settings(&setup, "1000000000")).output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        let expected = format!("cannot write to the checkpoint directory `{checkpoints}`: Read-only file system (os error 30)");
        assert!(ended.status.code() == Some(1) && said.contains(&expected), "{said}");
        assert_eq!(output(&setup.out()), [""; 0], "it has begun");
        drop(read_only);
        let mut child = Kill(command(&settings(&setup, "6000")).env(PATIENT, "1").stderr(Stdio::piped()).spawn().unwrap());
        let mut lines = BufReader::new(child.0.stderr.take().unwrap()).lines().map_while(Result::ok);
        wait_for("a checkpoint", || !complete(&setup).is_empty());
        let read_only = disk.read_only();
        let failed = lines.find(|line| line.contains("Read-only file system")).expect("it has not noticed");
        assert!(failed.contains(&checkpoints), "{failed}");
        drop(read_only);
        let rest: Vec<_> = lines.collect();
        let status = child.0.wait().unwrap();
        assert!(status.success(), "{status}: {failed}, {rest:?}");
        setup.check();
    });
}

/// The disk of the output is full while files are merged and committed, and there is room again later.
#[test]
fn a_disk_that_is_full_while_files_are_merged_and_committed_is_waited_for() {
    mounting("failed_storage::a_disk_that_is_full_while_files_are_merged_and_committed_is_waited_for", || {
        let setup = Setup::new(30_000, 3);
        let disk = Mount::new(&setup.out(), "4m").unwrap();
        let args = [settings(&setup, "6000"), vec!["--compact-every".to_owned(), "2".to_owned()]].concat();
        let mut child = Kill(command(&args).env(PATIENT, "1").stderr(Stdio::piped()).spawn().unwrap());
        let mut lines = BufReader::new(child.0.stderr.take().unwrap()).lines().map_while(Result::ok);
        wait_for("rows that are committed", || !output(&setup.out()).is_empty());
        for _ in 0..2 {
            let ballast = disk.fill();
            let full = lines.find(|line| line.contains("No space left on device")).expect("it has not noticed");
            assert!(full.contains(setup.out().to_str().unwrap()), "{full}");
            std::fs::remove_file(ballast).unwrap();
        }
        let rest: Vec<_> = lines.collect();
        let status = child.0.wait().unwrap();
        assert!(status.success(), "{status}: {rest:?}");
        setup.check();
    });
}

/// It may say which checkpoints count no more.
#[test]
fn a_record_of_the_lease_that_is_damaged_is_named() {
    let setup = Setup::new(5_000, 1);
    killed(&setup);
    let record = Path::new(&setup.path("checkpoints")).join(".lease-000001");
    let bytes = std::fs::read(&record).unwrap();
    std::fs::write(&record, &bytes[..bytes.len() / 2]).unwrap();
    let ended = command(&settings(&setup, "1000000000")).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(
        ended.status.code() == Some(1) && said.contains("`.lease-000001` is damaged; remove this file if no other"),
        "{said}"
    );
    std::fs::remove_file(record).unwrap();
    assert!(command(&settings(&setup, "1000000000")).status().unwrap().success());
    setup.check();
}

/// C79: two processes that are started at once: one has the job, and the other says who.
#[test]
fn of_two_copies_that_are_started_at_once_one_runs() {
    for _ in 0..6 {
        let setup = Setup::new(8_000, 1);
        let start = || Kill(command(&settings(&setup, "6000")).stderr(Stdio::piped()).spawn().unwrap());
        let mut copies = [start(), start()];
        let mut ended = Vec::new();
        for copy in &mut copies {
            let mut said = String::new();
            copy.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            ended.push((copy.0.wait().unwrap().code(), said));
        }
        ended.sort();
        assert_eq!([ended[0].0, ended[1].0], [Some(0), Some(1)], "{ended:?}");
        assert!(ended[1].1.contains("another process") && ended[1].1.contains(&setup.path("checkpoints")), "{ended:?}");
        setup.check();
    }
}
