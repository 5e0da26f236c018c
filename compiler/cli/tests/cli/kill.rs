//! SIGKILL at random moments: what is committed in the end equals an undisturbed run.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::compare::{self, Columns, Rows};
use crate::support::{self, Random};

struct Job {
    binary: PathBuf,
    folder: PathBuf,
    columns: Columns,
}

impl Job {
    fn start(&self, out: &Path, checkpoints: &Path) -> Child {
        Command::new(&self.binary)
            .args(["--parallelism", "2", "--checkpoint-interval", "200ms", "--checkpoint-dir"])
            .arg(checkpoints)
            .arg("--out")
            .arg(out)
            .arg("--events")
            .arg(self.folder.join("data/events-*.jsonl"))
            .current_dir(&self.folder)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the pipeline starts")
    }

    fn rows(&self, out: &Path) -> Rows {
        if out.exists() { compare::read(out, &self.columns) } else { Rows::new() }
    }
}

/// Runs to the end and returns how long that took.
fn finish(job: &Job, child: Child, what: &str) {
    let output = child.wait_with_output().expect("the pipeline ends");
    support::assert_success(&output, &format!("{what} ({})", job.binary.display()));
}

/// The same job, killed thirty times at random moments and started again each time.
#[test]
fn killed_thirty_times_commits_every_row_once() {
    let folder = support::fresh_folder("kill");
    let example = support::root().join("examples/nexmark");
    let flow = folder.join("killed.flow");
    std::fs::write(&flow, KILLED_FLOW).expect("the pipeline can be written");
    std::fs::copy(example.join("nexmark.flow"), folder.join("nexmark.flow")).expect("the shared file can be copied");
    let data = folder.join("data");
    std::fs::create_dir(&data).expect("a folder");
    let events = compare::text(&example.join("data/events.jsonl.gz"));
    for copy in 0..4 {
        std::fs::write(data.join(format!("events-{copy}.jsonl")), &events).expect("the input can be written");
    }
    let job = Job {
        binary: support::build(&flow, &folder),
        folder: folder.clone(),
        columns: [("bidder", "BIGINT"), ("start", "TIMESTAMP"), ("bids", "BIGINT"), ("total", "BIGINT"), ("dearest", "BIGINT")]
            .map(|(name, ty)| (name.to_string(), ty.to_string()))
            .into(),
    };

    let calm = folder.join("out-calm");
    let started = std::time::Instant::now();
    finish(&job, job.start(&calm, &folder.join("checkpoints-calm")), "the undisturbed run");
    let undisturbed = started.elapsed();
    let expected = job.rows(&calm);
    assert!(expected.len() > 1000, "only {} rows", expected.len());

    let seed = std::env::var("MILLSTREAM_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0x5EED_u64);
    let mut random = Random(seed | 1);
    let (out, checkpoints) = (folder.join("out"), folder.join("checkpoints"));
    let mut kills = 0;
    let mut ends = 0_usize;
    let mut progressed = Rows::new();
    while kills < 30 {
        let mut child = job.start(&out, &checkpoints);
        // From right after the start to near the end of what an undisturbed run takes.
        let moment = Duration::from_micros(random.below(undisturbed.as_micros() as u64));
        std::thread::sleep(moment);
        child.kill().expect("SIGKILL can be sent");
        let status = child.wait().expect("the killed process is reaped");
        if status.success() {
            // It had ended before: the result must stand, and the next start is a new run.
            compare::assert_same(&job.rows(&out), &expected, &format!("after {kills} kills, seed {seed}"));
            progressed = Rows::new();
            ends += 1;
            continue;
        }
        kills += 1;
        // What can be seen is whole rows, and none that does not belong there.
        let seen = job.rows(&out);
        for (row, times) in &seen {
            assert!(expected.get(row) >= Some(times), "kill {kills}, seed {seed}: a row too many: {row}");
        }
        for (row, times) in &progressed {
            // A run that ended replaces its own older output when it starts anew, so rows go only at such a start.
            assert!(ends > 0 || seen.get(row) >= Some(times), "kill {kills}, seed {seed}: a committed row vanished: {row}");
        }
        // Killed with everything committed, the run may just have ended: then the next start is a new run.
        ends += usize::from(seen == expected);
        progressed = seen;
    }
    finish(&job, job.start(&out, &checkpoints), "the last run");
    compare::assert_same(&job.rows(&out), &expected, &format!("after {kills} kills, seed {seed}"));
    let left: Vec<_> = all_files(&out).into_iter().filter(|name| name.starts_with('.')).collect();
    assert!(left.is_empty(), "leftovers: {left:?}");
}

fn all_files(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder can be read") {
        let entry = entry.expect("an entry");
        if entry.path().is_dir() {
            names.extend(all_files(&entry.path()));
        } else {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names
}

const KILLED_FLOW: &str = r#"
/// Bids per bidder and second.
job killed {}

use "nexmark.flow"

// Slow enough that there is time to be killed in.
source slow_events: Event from file { path: events, format: json, rate: 20_000 }

stream counted =
    slow_events
    | where bid is not null
    | select { bid.. }
    | watermark dateTime - 4s
    | aggregate by bidder over tumbling(1s) {
        bidder,
        start: window.start,
        bids: count(),
        total: sum(price),
        dearest: max(price),
      }

sink counted into file { path: out, format: json, existing: replace }
"#;
