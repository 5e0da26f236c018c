//! SIGKILL at random moments of a source with many short stages: in each stage and between them, at another parallelism after each, in
//! turn with barriers that wait behind the rows and with barriers that overtake them. What is committed in the end equals what the
//! files say, computed here.
//!
//! `MILLSTREAM_CYCLES` says how often (20 without it; `cargo xtask soak hybrid` runs 200), `MILLSTREAM_SEED` which moments.
//!
//! `cargo xtask soak mixed` starts a local S3 server, and `MILLSTREAM_BUCKET` says where that keeps its bucket `data`: then keyed state is
//! in memory or on disk, by chance at each start, checkpoints are in a folder and in the bucket, in turn, and there are sinks to both.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::compare::{self, Columns, Rows};
use crate::support::{self, Random};

const STAGES: [&str; 5] = ["january", "february", "march", "april", "may"];
/// Rows that are new in a stage; the first quarter as many of the stage before lie in its files once more.
const NEW: i64 = 1200;
const OVERLAP: i64 = NEW / 4;

struct Soak {
    /// Without barriers that overtake rows, and with them; each with every place of keyed state.
    binaries: [Vec<PathBuf>; 2],
    folder: PathBuf,
    bucket: Option<PathBuf>,
}

impl Soak {
    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Writes the files of one stage: two, with every other row.
    fn write(&self, stage: usize) {
        let folder = self.data().join(STAGES[stage]);
        std::fs::create_dir_all(&folder).expect("a folder");
        let first = i64::try_from(stage).expect("few stages") * NEW;
        let mut texts = [String::new(), String::new()];
        for id in (first - OVERLAP).max(0)..first + NEW {
            texts[usize::try_from(id % 2).expect("zero or one")].push_str(&format!("{{\"id\":{id},\"at\":\"{}\"}}\n", time(id)));
        }
        for (number, text) in texts.iter().enumerate() {
            std::fs::write(folder.join(format!("part-{number}.jsonl")), text).expect("a file");
        }
    }

    /// Whether the checkpoints of this run are in the bucket.
    fn in_bucket(&self, run: usize) -> bool {
        self.bucket.is_some() && run / 2 % 2 == 1
    }

    fn start(&self, run: usize, parallelism: u64, state: u64) -> Child {
        let binaries = &self.binaries[run % 2];
        let binary = &binaries[usize::try_from(state).expect("a small number") % binaries.len()];
        let local = self.folder.join("checkpoints");
        Command::new(binary)
            .args(["--parallelism", &parallelism.to_string(), "--checkpoint-interval", "20ms", "--checkpoint-dir"])
            .arg(if self.in_bucket(run) { Path::new("s3://data/checkpoints") } else { &local })
            .arg("--data")
            .arg(self.data())
            .arg("--out")
            .arg(self.folder.join("out"))
            .current_dir(&self.folder)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the pipeline starts")
    }

    /// The files of all checkpoints.
    fn checkpoints(&self) -> Vec<PathBuf> {
        let paths = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let directories = [Some(&self.folder), self.bucket.as_ref()].into_iter().flatten();
        let folders = directories.flat_map(|directory| paths(&directory.join("checkpoints")));
        folders.filter(|path| path.is_dir()).flat_map(|path| paths(&path)).collect()
    }

    /// Whether a checkpoint has rows that were on their way.
    fn holds_rows(&self) -> bool {
        let holds = |state: &[u8]| state.windows(11).any(|bytes| bytes == b"#in_flight/");
        self.checkpoints().into_iter().any(|path| std::fs::read(path).is_ok_and(|state| holds(&state)))
    }

    /// Whether the process that was killed had state on disk that did not fit into memory.
    fn has_spilled(&self) -> bool {
        let attempts = std::fs::read_dir(self.folder.join("state")).into_iter().flatten().flatten();
        attempts.map(|attempt| attempt.path()).any(|attempt| attempt.join("entries").exists())
    }

    /// What is to be said of the checkpoints that the killed process has left.
    fn note(&self, on_disk: bool, left: &mut Left) {
        let checkpoints = self.checkpoints();
        let manifests = checkpoints.iter().filter(|path| path.ends_with("manifest.json"));
        let manifests: String = manifests.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
        let joined = checkpoints.iter().filter_map(|path| path.file_name()?.to_str()).filter(|name| name.starts_with("joined-"));
        let (named, unnamed): (Vec<_>, Vec<_>) = joined.partition(|name| manifests.contains(&format!("\"{name}\"")));
        left.on_disk += usize::from(on_disk);
        left.spilled += usize::from(on_disk && self.has_spilled());
        left.built_upon[usize::from(on_disk)] += usize::from(manifests.contains("\"of\""));
        left.compacted += usize::from(!named.is_empty());
        left.compacting += usize::from(!unnamed.is_empty());
    }

    /// Whether there is a checkpoint to go on from.
    fn goes_on(&self) -> bool {
        self.checkpoints().iter().any(|path| path.ends_with("manifest.json"))
    }

    fn rows(&self) -> Rows {
        read(&self.folder.join("out/rows"), &[("id", "BIGINT")])
    }

    /// What the bucket holds of them.
    fn copies(&self) -> Option<Rows> {
        self.bucket.as_ref().map(|bucket| read(&bucket.join("out/copies"), &[("id", "BIGINT")]))
    }

    /// Uploads that nobody has completed or aborted.
    fn uploads(&self) -> usize {
        let entries = self.bucket.iter().filter_map(|bucket| std::fs::read_dir(bucket.parent()?).ok()).flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with(".upload-") && name.ends_with(".json")).count()
    }

    /// Rows and the windows over them: an event time that ran ahead at a switch would have left rows out of these.
    fn check(&self, what: &str) {
        compare::assert_same(&self.rows(), &expected_rows(), what);
        if let (Some(copies), Some(bucket)) = (self.copies(), &self.bucket) {
            compare::assert_same(&copies, &expected_rows(), &format!("in the bucket, {what}"));
            let columns = [("key", "BIGINT"), ("rows", "BIGINT"), ("sum", "BIGINT")];
            compare::assert_same(&read(&bucket.join("out/keys"), &columns), &expected_keys(), &format!("keys, {what}"));
            assert_eq!(self.uploads(), 0, "uploads are left, {what}");
        }
        let minutes = read(&self.folder.join("out/minutes"), &[("minute", "TIMESTAMP"), ("rows", "BIGINT"), ("sum", "BIGINT")]);
        compare::assert_same(&minutes, &expected_minutes(), what);
    }

    fn clear(&self) {
        for directory in [Some(&self.folder), self.bucket.as_ref()].into_iter().flatten() {
            for folder in ["out", "checkpoints"].map(|folder| directory.join(folder)) {
                // The server removes empty folders, too.
                support::wait_for("the output of the run before to be gone", || {
                    let _ = std::fs::remove_dir_all(&folder);
                    !folder.exists()
                });
            }
        }
        (0..STAGES.len()).for_each(|stage| self.write(stage));
    }
}

/// How many kills left something.
#[derive(Default)]
struct Left {
    on_disk: usize,
    /// State on disk that does not fit into memory.
    spilled: usize,
    /// A checkpoint that builds upon others, with state in memory and on disk.
    built_upon: [usize; 2],
    /// Files of checkpoints that were put together: those that a manifest names, and those that none does, or not yet.
    compacted: usize,
    compacting: usize,
}

fn read(folder: &Path, columns: &[(&str, &str)]) -> Rows {
    let columns: Columns = columns.iter().map(|(name, ty)| (name.to_string(), ty.to_string())).collect();
    if folder.exists() { compare::read(folder, &columns) } else { Rows::new() }
}

/// One row a second.
fn time(id: i64) -> String {
    format!("2026-01-{:02}T{:02}:{:02}:{:02}Z", 1 + id / 86_400, id / 3600 % 24, id / 60 % 60, id % 60)
}

fn all_ids() -> std::ops::Range<i64> {
    0..NEW * i64::try_from(STAGES.len()).expect("few stages")
}

fn expected_rows() -> Rows {
    all_ids().map(|id| (id.to_string(), 1)).collect()
}

/// Rows with one key come all over the stages.
const KEYS: i64 = 1501;

fn expected_keys() -> Rows {
    let mut keys = BTreeMap::<i64, (i64, i64)>::new();
    for id in all_ids() {
        let key = keys.entry(id % KEYS).or_default();
        *key = (key.0 + 1, key.1 + id);
    }
    let columns: Columns =
        [("key", "BIGINT"), ("rows", "BIGINT"), ("sum", "BIGINT")].map(|(name, ty)| (name.to_string(), ty.to_string())).into();
    let lines = keys.iter().map(|(key, (rows, sum))| {
        let row = serde_json::json!({ "key": key, "rows": rows, "sum": sum });
        (compare::normal_row(&row, &columns, Path::new("expected")), 1)
    });
    lines.collect()
}

fn expected_minutes() -> Rows {
    let mut minutes = BTreeMap::<i64, (i64, i64)>::new();
    for id in all_ids() {
        let minute = minutes.entry(id / 60 * 60).or_default();
        *minute = (minute.0 + 1, minute.1 + id);
    }
    let columns: Columns = [("minute", "TIMESTAMP"), ("rows", "BIGINT"), ("sum", "BIGINT")]
        .map(|(name, ty)| (name.to_string(), ty.to_string()))
        .into();
    let lines = minutes.iter().map(|(start, (rows, sum))| {
        let row = serde_json::json!({ "minute": time(*start), "rows": rows, "sum": sum });
        (compare::normal_row(&row, &columns, Path::new("expected")), 1)
    });
    lines.collect()
}

/// The stage whose rows were seen last: that far a checkpoint is complete.
fn stage_seen(rows: &Rows) -> usize {
    let last = rows.keys().filter_map(|row| row.parse::<i64>().ok()).max();
    last.map_or(0, |last| usize::try_from(last / NEW).unwrap_or(0))
}

#[test]
fn killed_in_every_stage_and_between_them_commits_every_row_once() {
    let cycles = std::env::var("MILLSTREAM_CYCLES").ok().and_then(|text| text.parse().ok()).unwrap_or(20_usize);
    let seed = std::env::var("MILLSTREAM_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0x5EED_u64);
    let folder = support::fresh_folder("hybrid-kill");
    let bucket = std::env::var_os("MILLSTREAM_BUCKET").map(PathBuf::from);
    let (states, more) = if bucket.is_some() { (&["", DISK][..], IN_BUCKET) } else { (&[""][..], "") };
    let binaries = [("soak", ""), ("overtaking", OVERTAKING)].map(|(name, checkpoint)| {
        let build = |state: &&str| {
            let name = if state.is_empty() { name.to_owned() } else { format!("{name}_on_disk") };
            let flow = folder.join(format!("{name}.flow"));
            let text = FLOW.replace("job soak {}", &format!("job soak {{\n{checkpoint}{state}}}"))
                + &more.replace("PADDING", &"x".repeat(12_000));
            std::fs::write(&flow, text).expect("the pipeline can be written");
            support::build(&flow, &folder)
        };
        states.iter().map(build).collect()
    });
    let soak = Soak { binaries, folder: folder.clone(), bucket };

    soak.clear();
    let started = Instant::now();
    let output = soak.start(0, 2, 0).wait_with_output().expect("the pipeline ends");
    support::assert_success(&output, "the undisturbed run");
    let undisturbed = started.elapsed();
    soak.check("the undisturbed run");

    let expected = expected_rows();
    let mut random = Random(seed | 1);
    let (mut kills, mut runs, mut deleted, mut overtaken, mut in_bucket) = (0, 0, 0, 0, 0);
    let mut left = Left::default();
    let mut seen_at_kills = [0; STAGES.len()];
    let mut in_this_run = 0;
    soak.clear();
    while kills < cycles {
        let state = random.below(2);
        let mut child = soak.start(runs, 1 + random.below(3), state);
        // Longer and longer within a run: on a busy machine a start alone may take as long as an undisturbed run did.
        let longest = undisturbed * 5 / 4 + Duration::from_millis(50) * in_this_run;
        let moment = Duration::from_micros(random.below(longest.as_micros() as u64));
        let begun = Instant::now();
        let status = loop {
            match child.try_wait().expect("the state of the process") {
                Some(status) => break Some(status),
                None if begun.elapsed() >= moment => break None,
                None => std::thread::sleep(Duration::from_micros(200)),
            }
        };
        let what = format!("run {runs}, after {kills} kills, seed {seed}");
        match status {
            Some(status) => {
                let output = child.wait_with_output().expect("what it said");
                assert!(status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
                soak.check(&what);
                runs += 1;
                in_this_run = 0;
                soak.clear();
                continue;
            }
            None => {
                child.kill().expect("SIGKILL can be sent");
                child.wait().expect("the killed process is reaped");
            }
        }
        kills += 1;
        in_this_run += 1;
        soak.note(soak.bucket.is_some() && state == 1, &mut left);
        in_bucket += usize::from(soak.in_bucket(runs));
        overtaken += usize::from(soak.holds_rows());
        let rows = soak.rows();
        let copies = soak.copies();
        for (row, times) in rows.iter().chain(copies.iter().flatten()) {
            assert_eq!(*times, 1, "{what}: the row {row} is there {times} times");
        }
        let stage = stage_seen(&rows);
        seen_at_kills[stage] += 1;
        if rows.len() == expected.len() && !soak.goes_on() {
            // Killed in the moment after its end: the next start is a new one, which needs the files of all stages.
            soak.check(&what);
            runs += 1;
            in_this_run = 0;
            soak.clear();
            continue;
        }
        // Files of stages that have ended are not needed any more: not even to start again. With every row committed, the run
        // may just have ended.
        if random.below(2) == 0 && rows.len() < expected.len() && copies.is_none_or(|copies| copies.len() < expected.len()) {
            for ended in &STAGES[..stage] {
                let files = soak.data().join(ended);
                if files.exists() {
                    std::fs::remove_dir_all(files).expect("the files can be removed");
                    deleted += 1;
                }
            }
        }
    }
    let output = soak.start(runs, 2, 1).wait_with_output().expect("the pipeline ends");
    let what = format!("the last run, after {kills} kills, seed {seed}");
    support::assert_success(&output, &what);
    soak.check(&what);
    let Left { on_disk, spilled, built_upon, compacted, compacting } = left;
    println!(
        "{kills} kills (seed {seed}) in {} runs of {} rows and {} stages, an undisturbed run takes {} ms: every row once.\n\
         Committed when killed, by stage: {}. Folders of ended stages deleted between kill and restart: {deleted}. \
         Kills that left a checkpoint with rows on their way: {overtaken}. With state on disk: {on_disk}; more of it than fits into \
         memory: {spilled}. With a checkpoint that builds upon others: {} with state in memory, {} on disk. With files of checkpoints \
         that were put together: {compacted}; while that was done, or before a checkpoint named them: {compacting}. \
         With checkpoints in a bucket: {in_bucket}.",
        runs + 1,
        all_ids().end,
        STAGES.len(),
        undisturbed.as_millis(),
        STAGES.iter().zip(seen_at_kills).map(|(stage, kills)| format!("{stage} {kills}")).collect::<Vec<_>>().join(", "),
        built_upon[0],
        built_upon[1],
    );
    if on_disk >= 100 {
        assert!(spilled > 0, "state has never been more than fits into memory: that is not soaked");
        assert!(built_upon.iter().all(|&kills| kills > 0), "no checkpoint builds upon another: that is not soaked");
        assert!(compacted > 0 && compacting > 0, "no files of checkpoints are put together: that is not soaked");
    }
}

const OVERTAKING: &str = "    checkpoint: every 20ms to \"checkpoints\" { unaligned: always }\n";

/// Less memory than the keys of [`IN_BUCKET`] take: most of them are on disk.
const DISK: &str = "    state: disk { path: \"state\", memory: 16MB }\n";

/// What a mixed soak has more: sinks to a bucket, and state of many keys that lasts for all stages.
const IN_BUCKET: &str = r#"
stream copies = rows | select { id }

stream keys =
    rows
    | select { id, at, key: id % 1501, long: f"{id % 1501} PADDING" }
    | aggregate by (key, long) over tumbling(1d) { key, rows: count(), sum: sum(id) }

sink copies into file { path: "s3://data/out/copies", format: json, existing: replace }
sink keys into file { path: "s3://data/out/keys", format: json, existing: replace }
"#;

const FLOW: &str = r#"
/// Five months, one after the other, each with files that begin before the month does.
job soak {}

param data: string
param out: string

record Row { id: int64, at: timestamp }

source rows: Row from hybrid {
    january = file { path: f"{data}/january/*.jsonl", rate: 15_000 }
    february = file { path: f"{data}/february/*.jsonl", rate: 15_000, since: january.max(at) + 1s }
    march = file { path: f"{data}/march/*.jsonl", rate: 15_000, since: february.max(at) + 1s }
    april = file { path: f"{data}/april/*.jsonl", rate: 15_000, since: march.max(at) + 1s }
    may = file { path: f"{data}/may/*.jsonl", rate: 15_000, since: april.max(at) + 1s }
} watermark at

stream minutes =
    rows
    | aggregate over tumbling(1m) { minute: window.start, rows: count(), sum: sum(id) }

sink rows | select { id } into file { path: f"{out}/rows", format: json, existing: replace }
sink minutes into file { path: f"{out}/minutes", format: json, existing: replace }
"#;
