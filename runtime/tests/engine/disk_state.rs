//! A job whose keyed state is on disk: killed, resumed, and always with the output of an undisturbed run.

use std::cell::Cell;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use millstream::params::ParamValues;
use millstream::{Folder, Job, JobResult, StateConfig};

use super::job::{Setup, job, wait_for};
use super::kill::{Kill, PATIENT, command, until_it_ends};
use super::mount::{Mount, mounting};

/// Says to the process of the tests of `kill` that it has to run this job.
pub const DISK: &str = "MILLSTREAM_TEST_DISK";

/// The test job with its state beside its output, and no memory for any of it.
pub fn on_disk() -> Job {
    let path = |params: &ParamValues| -> JobResult<String> { Ok(format!("{}-state", params.get::<String>("output")?)) };
    Job { state: StateConfig::Disk { path: Folder::Of(path), memory: 0 }, ..job() }
}

fn folders(state: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(state).into_iter().flatten().map(|entry| entry.unwrap().file_name());
    entries.map(|name| name.to_string_lossy().into_owned()).filter(|name| name.starts_with("millstream-")).collect()
}

/// Whether a checkpoint builds upon another.
fn builds(checkpoints: &Path) -> bool {
    let folders = std::fs::read_dir(checkpoints).into_iter().flatten().flatten();
    let manifests = folders.filter_map(|folder| std::fs::read_to_string(folder.path().join("manifest.json")).ok());
    manifests.into_iter().any(|manifest| manifest.contains("\"of\":"))
}

/// SIGKILL at any moment, and gone on with, now on disk, now in memory: the checkpoints say the same, whether they build upon others or
/// not. What a killed process had on disk is gone with the next that uses it.
#[test]
fn killed_and_started_again_on_disk_and_in_memory() {
    let setup = Setup::new(24_000, 3);
    let state = setup.folder.path().join("out-state");
    let checkpoints = setup.path("checkpoints");
    let args =
        setup.args(&["--checkpoint-dir", &checkpoints, "--checkpoint-interval", "20ms", "--rate", "8000", "--parallelism", "2"]);
    let is_on_disk = Cell::new(true);
    let (mut spilled, mut built_upon) = (false, false);
    let start = |kills: u64| {
        is_on_disk.set(!kills.is_multiple_of(3));
        let mut command = command(&args);
        if is_on_disk.get() {
            command.env(DISK, "1");
        }
        // Longer and longer, so that a slow machine comes to an end, too.
        (command, Duration::from_millis(150 + kills * 270 % 700 + kills * 20))
    };
    let look = |has_ended: bool| {
        let folders = folders(&state);
        assert!(folders.len() <= 1, "{folders:?}");
        assert!(!has_ended || !is_on_disk.get() || folders.is_empty(), "{folders:?}: it has removed its own");
        built_upon |= builds(Path::new(&checkpoints));
        spilled |= folders.iter().any(|folder| state.join(folder).join("entries").exists());
    };
    let kills = until_it_ends(&setup, start, look);
    assert!(kills > 1 && spilled && built_upon, "{kills} kills, {spilled}, {built_upon}");
}

/// Somebody fills the disk that state spills to while the job runs: it says so with the folder, starts again until there is room, and then
/// every row counts once.
#[test]
fn a_disk_that_is_full_in_the_middle_of_a_run_is_waited_for() {
    mounting("disk_state::a_disk_that_is_full_in_the_middle_of_a_run_is_waited_for", a_full_disk);
}

fn a_full_disk() {
    let setup = Setup::new(24_000, 3);
    let disk = Mount::new(&setup.folder.path().join("out-state"), "96m").unwrap();
    let checkpoints = setup.path("checkpoints");
    let args =
        setup.args(&["--checkpoint-dir", &checkpoints, "--checkpoint-interval", "50ms", "--rate", "4000", "--parallelism", "2"]);
    let mut child = Kill(command(&args).env(DISK, "1").env(PATIENT, "1").stderr(Stdio::piped()).spawn().unwrap());
    let mut said = BufReader::new(child.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    wait_for("state on disk, and a checkpoint", || {
        let spills = folders(&disk.0).iter().any(|folder| disk.0.join(folder).join("entries").exists());
        let checkpoints = std::fs::read_dir(&checkpoints).into_iter().flatten().flatten();
        spills && checkpoints.into_iter().any(|checkpoint| checkpoint.path().join("manifest.json").exists())
    });
    let ballast = disk.fill();
    let full = said.find(|line| line.contains("No space left on device")).expect("it has said nothing of the full disk");
    let expected = format!("cannot keep state in `{}", disk.0.display());
    assert!(full.contains(&expected) && full.contains("counts: attempt "), "{full}");
    // There is still no room.
    let again = said.find(|line| line.contains("No space left on device")).expect("it has not started again");
    assert!(again.contains(&expected), "{again}");
    std::fs::remove_file(&ballast).unwrap();
    let rest: Vec<_> = said.collect();
    let status = child.0.wait().unwrap();
    assert!(status.success(), "{status}: {full}, {rest:?}");
    setup.check();
    assert_eq!(folders(&disk.0), [""; 0], "what attempts have left");
}
