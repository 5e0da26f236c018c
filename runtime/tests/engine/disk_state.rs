//! A job whose keyed state is on disk: killed, resumed, and always with the output of an undisturbed run.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use millstream::params::ParamValues;
use millstream::{Job, JobResult, StateConfig};

use super::job::{Setup, expected, job, output};
use super::kill::{command, kill_after};

/// Says to the process of the tests of `kill` that it has to run this job.
pub const DISK: &str = "MILLSTREAM_TEST_DISK";

/// The test job with its state beside its output, and no memory for any of it.
pub fn on_disk() -> Job {
    let path = |params: &ParamValues| -> JobResult<String> { Ok(format!("{}-state", params.get::<String>("output")?)) };
    Job { state: StateConfig::Disk { path, memory: 0 }, ..job() }
}

fn folders(state: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(state).into_iter().flatten().map(|entry| entry.unwrap().file_name());
    entries.map(|name| name.to_string_lossy().into_owned()).filter(|name| name.starts_with("millstream-")).collect()
}

fn has_checkpoints(folder: &Path) -> bool {
    let mut entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.any(|entry| entry.file_name().to_string_lossy().starts_with("checkpoint-"))
}

/// SIGKILL at any moment. What the killed process had on disk is gone with the next.
#[test]
fn killed_and_started_again() {
    let setup = Setup::new(24_000, 3);
    let state = setup.folder.path().join("out-state");
    let checkpoints = setup.path("checkpoints");
    let args =
        setup.args(&["--checkpoint-dir", &checkpoints, "--checkpoint-interval", "20ms", "--rate", "8000", "--parallelism", "2"]);
    let all = expected(0..setup.bids);
    let log = setup.folder.path().join("stderr");
    let mut kills: u64 = 0;
    let mut spilled = false;
    loop {
        let child = command(&args).env(DISK, "1").stderr(File::create(&log).unwrap()).spawn().unwrap();
        // Longer and longer, so that a slow machine comes to an end, too.
        let end = kill_after(child, Duration::from_millis(150 + kills * 270 % 700 + kills * 20));
        assert!(folders(&state).len() <= 1, "{:?}", folders(&state));
        spilled |= folders(&state).iter().any(|folder| state.join(folder).join("entries").exists());
        match end {
            Some(status) => {
                assert!(status.success(), "{status}: {}", std::fs::read_to_string(&log).unwrap_or_default());
                assert_eq!(folders(&state), [""; 0], "it has removed its own");
                break;
            }
            None => kills += 1,
        }
        // It was over and about to leave: there is nothing to go on from.
        if setup.out().join("_SUCCESS").exists() && !has_checkpoints(Path::new(&checkpoints)) {
            break;
        }
        let committed = output(&setup.out());
        assert!(committed.windows(2).all(|pair| pair[0] != pair[1]), "a row is there twice after kill {kills}");
        assert!(committed.iter().all(|line| all.binary_search(line).is_ok()), "a row is wrong after kill {kills}");
        assert!(kills < 300, "it makes no progress");
    }
    assert!(kills > 0 && spilled, "{kills} kills, {spilled}");
    setup.check();
}
