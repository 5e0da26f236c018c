//! The test job in a process of its own, with a bucket.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use millstream_testkit_s3::Server;

use millstream::{Folder, Job, StateConfig};

use super::compacting::with_few_groups;
use super::job::{Setup, expected, job, output, run_job};

const ARGS: &str = "MILLSTREAM_TEST_ARGS";

/// Says to the process that its keyed state is in this folder, with no memory for any of it.
pub const DISK: &str = "MILLSTREAM_TEST_DISK";

/// Not a test by itself: the process that the tests start and kill.
#[test]
fn child() {
    if let Ok(args) = std::env::var(ARGS) {
        let on_disk = |_: &_| Ok(std::env::var(DISK).unwrap_or_default());
        let state = match std::env::var_os(DISK) {
            Some(_) => StateConfig::Disk { path: Folder::Of(on_disk), memory: 0 },
            None => StateConfig::Memory,
        };
        std::process::exit(run_job(with_few_groups(Job { state, ..job() }), &args.split('\n').collect::<Vec<_>>()).into());
    }
}

/// Bids in a local folder, and a server.
pub struct Fixture {
    pub setup: Setup,
    pub server: Server,
}

impl Fixture {
    pub fn new(bids: u64, files: u64) -> Self {
        Fixture::of(Setup::new(bids, files))
    }

    pub fn of(setup: Setup) -> Self {
        let server = Server::start(&setup.folder.path().join("server")).unwrap();
        Fixture { setup, server }
    }

    /// The job with these arguments, input and output in local folders.
    pub fn command(&self, more: &[&str]) -> Command {
        self.command_of(&self.setup.args(more))
    }

    pub fn command_of(&self, args: &[String]) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "process::child", "--nocapture"])
            .env(ARGS, args.join("\n"))
            .envs(self.server.environment())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, more: &[&str]) -> Output {
        self.command(more).output().unwrap()
    }

    /// A folder of the bucket.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.server.bucket().join(name)
    }

    /// Kills the job again and again until it ends; `committed` gives what can be seen.
    pub fn kill_until_it_ends(&self, args: &[String], longest: u64, committed: impl Fn() -> Vec<String>) -> u32 {
        self.kill_until_it_ends_with(args, &[], longest, committed)
    }

    /// The same with more in its environment.
    pub fn kill_until_it_ends_with(
        &self,
        args: &[String],
        environment: &[(&str, String)],
        longest: u64,
        mut committed: impl FnMut() -> Vec<String>,
    ) -> u32 {
        let all = expected(0..self.setup.bids);
        let mut seed = 88_172_645_463_325_252_u64;
        let mut kills = 0;
        loop {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let mut command = self.command_of(args);
            command.envs(environment.iter().map(|(name, value)| (name, value)));
            let said = self.setup.folder.path().join("stderr");
            let child = command.stderr(std::fs::File::create(&said).unwrap()).spawn().unwrap();
            match kill_after(child, Duration::from_millis(50 + seed % (longest + 40 * u64::from(kills)))) {
                Some(status) => {
                    let said = std::fs::read_to_string(said).unwrap();
                    // Killed in the instant in which it removed its checkpoints: it is over, a further start is a new run, and is
                    // refused as such. Its rows are looked at by the caller.
                    let refused = said.contains("the output folder `") && said.contains("` already holds files (`");
                    let over = kills > 0 && status.code() == Some(1) && refused && self.succeeded();
                    assert!(status.success() || over, "{status} after kill {kills}: {said}");
                    return kills;
                }
                None => kills += 1,
            }
            // Killed when all was done: there is nothing to go on from, and nothing to be done.
            if self.succeeded() && !has_manifest(&self.server.bucket()) {
                return kills;
            }
            let committed = committed();
            assert!(committed.windows(2).all(|pair| pair[0] != pair[1]), "a row is there twice after kill {kills}");
            assert!(committed.iter().all(|line| all.binary_search(line).is_ok()), "a row is wrong after kill {kills}");
            assert!(kills < 200, "it makes no progress");
        }
    }

    /// Whether the sink says that the job has ended and all rows are there.
    fn succeeded(&self) -> bool {
        [self.setup.out(), self.folder("out")].iter().any(|out| out.join("_SUCCESS").exists())
    }

    pub fn check(&self) {
        assert_eq!(output(&self.setup.out()), expected(0..self.setup.bids));
    }
}

fn has_manifest(folder: &Path) -> bool {
    let mut paths = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    paths.any(|path| path.ends_with("manifest.json") || path.is_dir() && has_manifest(&path))
}

/// Kills the child after `time`, unless it has ended by then.
fn kill_after(mut child: Child, time: Duration) -> Option<ExitStatus> {
    let deadline = Instant::now() + time;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Ends a child that a failed assertion would leave behind.
pub struct Kill(pub Child);

impl Drop for Kill {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}
