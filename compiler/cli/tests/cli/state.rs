//! What a checkpoint holds can be looked at, and outlives a change of types, and of the place of state: the first version keeps it on disk,
//! so that its checkpoints build upon others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{assert_success, build, fresh_folder, millstream, signal, wait_for};

const USERS: usize = 7;
const ROWS: usize = 900;

/// Of the first version.
const DISK: &str = ", checkpoint: every 100ms to \"checkpoints\" { keep: 3 }, state: disk { path: \"spilled\", memory: 16MB }";

/// Totals per user. The first version reads 32 bits and keeps the greatest amount; later ones change that.
fn pipeline(settings: &str, amount: &str, columns: &str) -> String {
    format!(
        "job totals {{ parallelism: 2{settings} }}\n\
         record Event {{ user: string, amount: {amount} }}\n\
         source events: Event from file {{ path: \"in.jsonl\", format: json, rate: 300 }}\n\
         stream totals = events | aggregate by user {{ user, total: sum(amount){columns} }}\n\
         sink totals | final into file {{ path: \"out\", format: json }}\n"
    )
}

fn run(binary: &Path, folder: &Path) -> Command {
    let mut command = Command::new(binary);
    command.current_dir(folder).args(["--checkpoint-dir", "checkpoints", "--checkpoint-interval", "100ms"]);
    command
}

/// The checkpoints that are whole.
fn checkpoints(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join("checkpoints")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.join("manifest.json").is_file()).collect()
}

/// Lets the job run until there is a checkpoint or two, then stops it with a last one.
fn stop_in_the_middle(binary: &Path, folder: &Path) {
    let job = run(binary, folder).stderr(Stdio::piped()).spawn().expect("the job starts");
    wait_for("checkpoints", || checkpoints(folder).iter().any(|path| !path.ends_with("checkpoint-000001")));
    // With state on disk, what is freed goes back to the system.
    let environment = std::fs::read(format!("/proc/{}/environ", job.id())).expect("its environment");
    let settled = environment.split(|byte| *byte == 0).any(|setting| setting == b"MALLOC_ARENA_MAX=2");
    assert_eq!(settled, cfg!(target_env = "gnu"), "{}", String::from_utf8_lossy(&environment));
    signal(&job, "TERM");
    let output = job.wait_with_output().expect("the job ends");
    assert_success(&output, "a job that is asked to stop");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("stopped with a checkpoint"), "{said}");
}

fn shown(folder: &Path, args: &[&str]) -> String {
    let output = millstream().arg("state").args(args).current_dir(folder).output().expect("millstream runs");
    assert_success(&output, &format!("millstream state {args:?}"));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn amount(row: usize) -> i64 {
    i64::try_from(row * 31 % 101).expect("small")
}

#[test]
fn state_can_be_looked_at_and_outlives_a_change_of_types() {
    let folder = fresh_folder("state");
    let rows: String = (0..ROWS).map(|row| format!("{{\"user\":\"u{}\",\"amount\":{}}}\n", row % USERS, amount(row))).collect();
    std::fs::write(folder.join("in.jsonl"), rows).expect("written");
    let flow = folder.join("totals.flow");

    std::fs::write(&flow, pipeline(DISK, "int32", ", worst: max(amount)")).expect("written");
    stop_in_the_middle(&build(&flow, &folder), &folder);

    let listed = shown(&folder, &["ls", "checkpoints"]);
    assert!(listed.contains("job totals, checkpoint"), "{listed}");
    assert!(listed.contains("totals/aggregate/0") && listed.contains("worst: max"), "{listed}");
    assert!(listed.lines().next().is_some_and(|newest| newest.ends_with(" of its own)")), "{listed}");
    let on_disk =
        std::fs::read_dir(folder.join("spilled")).expect("state on disk").map(|entry| entry.expect("an entry").file_name());
    let left: Vec<_> = on_disk.filter(|name| name.to_string_lossy().starts_with("millstream-")).collect();
    assert!(left.is_empty(), "{left:?}: it removes its files");
    let values = shown(&folder, &["show", "checkpoints", "totals/aggregate/0", "--key", "u3"]);
    assert!(values.contains("\"u3\" -> ") && !values.contains("\"u4\""), "{values}");

    // What is new has no past: refused, with the column, and nothing is lost.
    std::fs::write(&flow, pipeline("", "int32", ", worst: max(amount), least: min(amount)")).expect("written");
    let output = run(&build(&flow, &folder), &folder).output().expect("the job runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("totals/aggregate/0") && said.contains("`least` is new"), "{said}");

    // A wider type that may be null, and a column less: taken over, here from where the checkpoints were moved to, all of them: the newest
    // builds upon others.
    std::fs::rename(folder.join("checkpoints"), folder.join("savepoints")).expect("moved");
    std::fs::write(&flow, pipeline("", "int64?", "")).expect("written");
    let mut changed = Command::new(build(&flow, &folder));
    changed.current_dir(&folder).args(["--from", "savepoints", "--checkpoint-dir", "later", "--checkpoint-interval", "100ms"]);
    let output = changed.output().expect("the job runs");
    assert_success(&output, "the changed job");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("resuming from checkpoint"), "{said}");
    let mut expected: BTreeMap<String, i64> = BTreeMap::new();
    (0..ROWS).for_each(|row| *expected.entry(format!("u{}", row % USERS)).or_default() += amount(row));
    let mut totals = BTreeMap::new();
    for file in std::fs::read_dir(folder.join("out")).expect("output").map(|file| file.expect("a file").path()) {
        for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
            let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
            totals.insert(row["user"].as_str().expect("a user").to_owned(), row["total"].as_i64().expect("a total"));
        }
    }
    assert_eq!(totals, expected);
}
