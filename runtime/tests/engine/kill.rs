//! SIGKILL at any moment: a later start goes on by itself, and the committed output is that of an undisturbed run.

use std::fs::File;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use millstream::{CheckpointConfig, Job, Restart};

use super::job::{Setup, expected, output, run_job, visible};

const ARGS: &str = "MILLSTREAM_TEST_ARGS";

/// Says to that process that the job starts again as often as it has to.
pub const PATIENT: &str = "MILLSTREAM_TEST_PATIENT";

/// Says how many checkpoints it keeps.
pub const KEEP: &str = "MILLSTREAM_TEST_KEEP";

/// Not a test by itself: the process that the tests below start and kill.
#[test]
fn child() {
    if let Ok(args) = std::env::var(ARGS) {
        #[cfg(feature = "disk")]
        let job = if std::env::var(super::disk_state::DISK).is_ok() { super::disk_state::on_disk() } else { super::job::job() };
        #[cfg(not(feature = "disk"))]
        let job = super::job::job();
        let job = match std::env::var(super::restoring::HOLD) {
            Ok(file) => super::restoring::held_by(job, file),
            Err(_) => job,
        };
        let keep = std::env::var(KEEP).ok().and_then(|keep| keep.parse().ok());
        let block = keep.map(|keep| CheckpointConfig { keep, ..CheckpointConfig::new(1, |_| Ok(String::new())) });
        let job = Job { checkpoint: block.or(job.checkpoint), ..job };
        #[cfg(feature = "sim")]
        let job = super::compacting::with_few_groups(job);
        let patient = std::env::var(PATIENT).map(|_| Restart::Fixed { attempts: 1_000_000, delay_micros: 20_000 });
        let job = Job { restart: patient.unwrap_or(job.restart), ..job };
        std::process::exit(run_job(job, &args.split('\n').collect::<Vec<_>>()).into());
    }
}

/// A process that runs the job with these arguments.
pub fn command(args: &[String]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "kill::child", "--nocapture"]).env(ARGS, args.join("\n")).stdout(Stdio::null());
    command
}

pub fn start(args: &[String]) -> Child {
    command(args).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills the child after `time`, unless it has ended by then.
fn kill_after(mut child: Child, time: Duration) -> Option<ExitStatus> {
    let deadline = Instant::now() + time;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

#[test]
fn killed_at_any_moment_and_started_again() {
    killed_and_started_again(&Setup::new(60_000, 3), &[]);
}

/// The same with small files merged before they are shown: some kills fall between a merge and its commit.
#[test]
fn killed_while_files_are_merged() {
    let setup = Setup::new(40_000, 3);
    killed_and_started_again(&setup, &["--compact-every", "3"]);
    let names: Vec<_> = visible(&setup.out()).iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    assert!(names.iter().any(|name| name.starts_with("part-c-")), "nothing was merged: {names:?}");
}

fn killed_and_started_again(setup: &Setup, more_args: &[&str]) {
    let checkpoints = setup.path("checkpoints");
    let more = ["--checkpoint-dir", &checkpoints, "--checkpoint-interval", "20ms", "--rate", "30000", "--parallelism", "2"];
    let args = setup.args(&[&more[..], more_args].concat());
    let mut seed = 88_172_645_463_325_252_u64;
    let start = |_| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        // Most kills fall into the run; some into its start.
        (command(&args), Duration::from_millis(20 + seed % 600))
    };
    let kills = until_it_ends(setup, start, |_| {});
    assert!(kills > 3, "it was killed {kills} times only");
}

/// Starts processes, of which `start` tells how long they may run, until one comes to its end, and looks at the output after each; so
/// does `look`, which is told whether the process has come to its end. How often one was killed.
pub fn until_it_ends(setup: &Setup, mut start: impl FnMut(u64) -> (Command, Duration), mut look: impl FnMut(bool)) -> u64 {
    let all = expected(0..setup.bids);
    let said = setup.path("stderr");
    let mut kills = 0;
    let end = loop {
        let (mut command, time) = start(kills);
        let end = kill_after(command.stderr(File::create(&said).unwrap()).spawn().unwrap(), time);
        look(end.is_some_and(|status| status.success()));
        match end {
            Some(status) => break status,
            None => kills += 1,
        }
        let committed = output(&setup.out());
        assert!(committed.windows(2).all(|pair| pair[0] != pair[1]), "a row is there twice after kill {kills}");
        assert!(committed.iter().all(|line| all.binary_search(line).is_ok()), "a row is wrong after kill {kills}");
        assert!(kills < 300, "it makes no progress");
    };
    // Killed in the instant between the end of the job and that of its process, the job is over: a further start is a new run, and
    // is refused as such.
    let said = std::fs::read_to_string(&said).unwrap();
    let over = said.contains("already holds files") && setup.succeeded();
    assert!(end.success() || over, "{end} after {kills} kills: {said}");
    setup.check();
    kills
}

/// A process that goes when its test fails.
pub struct Kill(pub Child);

impl Drop for Kill {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
