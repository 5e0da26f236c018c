//! `cargo xtask bench large`: a pipeline whose state on disk is larger than the memory that it may take.
//!
//! Whole processes. The first takes in rows of new keys until its checkpoints hold so many megabytes, and stops with one more. The second
//! starts from there, takes one that builds upon what it has restored, and stops. The kernel says how much memory each had at most.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4;

use super::pipelines;

/// An entry has about a kilobyte.
const FLOW: &str = r#"job large { parallelism: 2, state: disk { path: state, memory: 256MB } }

param state: string

record Number { n: int64 }

source numbers: Number from generator { kind: sequence, rows: 1000000000 }

stream texts = numbers | select { n, text: repeat(hex(hash(hex(n))), 64) }

stream kept = texts | aggregate by n { n, text: max(text), times: count() }

sink kept into blackhole {}
"#;

/// Nothing takes longer.
const PATIENCE: Duration = Duration::from_secs(1800);

/// Settings: megabytes.
pub fn run(args: &[String]) -> Result<(), String> {
    let mut megabytes = 5000;
    let mut args = args.iter();
    while let Some(flag) = args.next() {
        let value = args.next().ok_or_else(|| format!("{flag} takes a value\n\n{}", crate::USAGE))?;
        match flag.as_str() {
            "--megabytes" => megabytes = value.parse().map_err(|_| format!("{flag} takes a number, not {value}"))?,
            other => return Err(format!("unknown flag {other}\n\n{}", crate::USAGE)),
        }
    }
    let (root, folder) = super::places()?;
    let place = folder.join("large");
    std::fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    let flow = place.join("large.flow");
    std::fs::write(&flow, FLOW).map_err(|error| format!("{}: {error}", flow.display()))?;
    let job = Job { binary: pipelines::compile(&root, &flow, &place.join("pipeline"))?, place };
    job.clear();
    let result = job.measure(megabytes * 1_000_000);
    job.clear();
    result
}

struct Job {
    binary: PathBuf,
    place: PathBuf,
}

impl Job {
    fn checkpoints(&self) -> PathBuf {
        self.place.join("checkpoints")
    }

    fn state(&self) -> PathBuf {
        self.place.join("state")
    }

    fn clear(&self) {
        for folder in [self.checkpoints(), self.state()] {
            let _ = std::fs::remove_dir_all(folder);
        }
    }

    fn start(&self) -> Result<Child, String> {
        let mut command = Command::new(&self.binary);
        command.arg("--quiet").args(["--checkpoint-interval", "10s", "--checkpoint-dir"]).arg(self.checkpoints());
        command.arg("--state").arg(self.state()).stdout(Stdio::null());
        command.spawn().map_err(|error| format!("{}: {error}", self.binary.display()))
    }

    fn measure(&self, bytes: u64) -> Result<(), String> {
        println!("`memory: 256MB`, parallelism 2, a checkpoint every 10 s\n");
        println!("| | seconds | peak memory | checkpoints on disk | store on disk |");
        println!("|---|---:|---:|---:|---:|");
        self.stage("rows come in, with checkpoints of what has changed", |job| size(&job.checkpoints()) >= bytes)?;
        let last = self.newest();
        self.stage("restored, and the first checkpoint behind that", |job| job.newest() > last)
    }

    /// A process from its start until this is so, and its end.
    fn stage(&self, what: &str, until: impl Fn(&Job) -> bool) -> Result<(), String> {
        let started = Instant::now();
        let mut child = self.start()?;
        let mut store = 0;
        while !until(self) {
            std::thread::sleep(Duration::from_millis(200));
            store = store.max(size(&self.state()));
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                return Err(format!("{what}: the pipeline has ended: {status}"));
            }
            if started.elapsed() > PATIENCE {
                let _ = child.kill();
                return Err(format!("{what}: not done after {PATIENCE:?}"));
            }
        }
        let took = started.elapsed().as_secs_f64();
        let stopped = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        stopped.map_err(|error| format!("kill: {error}"))?;
        let used = child.wait4().map_err(|error| error.to_string())?;
        if !used.status.success() {
            return Err(format!("{what}: {}", used.status));
        }
        println!(
            "| {what} | {took:.0} | {:.0} MB | {:.0} MB | {:.0} MB |",
            used.rusage.maxrss as f64 / 1e6,
            size(&self.checkpoints()) as f64 / 1e6,
            store as f64 / 1e6
        );
        Ok(())
    }

    /// The number of the newest checkpoint that is complete.
    fn newest(&self) -> u64 {
        let folders = std::fs::read_dir(self.checkpoints()).into_iter().flatten().flatten();
        let complete = folders.filter(|folder| folder.path().join("manifest.json").exists());
        let number = |name: &str| name.strip_prefix("checkpoint-")?.parse().ok();
        complete.filter_map(|folder| number(folder.file_name().to_str()?)).max().unwrap_or(0)
    }
}

/// Bytes of all files below a folder.
fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let of = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.map(of).sum()
}
