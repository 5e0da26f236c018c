//! Every Nexmark query is run at parallelism 1, 2 and 4, undisturbed, and killed in the middle and resumed: its output equals the
//! recorded result.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support;

use crate::support::compare::{self, Rows};

/// A query on the 10k events.
struct Query {
    name: &'static str,
    binary: PathBuf,
    /// For what it writes.
    folder: PathBuf,
}

impl Query {
    /// The query as it stands in the examples, behind a source that can be made slow: so there is a middle to be killed in.
    fn build(name: &'static str, folder: &str) -> Query {
        let folder = support::fresh_folder(folder);
        let example = support::root().join("examples/nexmark");
        let shared = std::fs::read_to_string(example.join("nexmark.flow")).expect("the shared file");
        let slow = shared.replace(
            "source all_events: Event from file { path: events, format: json }",
            "param rate: int64 = 1_000_000_000\nsource all_events: Event from file { path: events, format: json, rate: rate }",
        );
        assert_ne!(shared, slow, "the source of the examples is another now");
        std::fs::write(folder.join("nexmark.flow"), slow).expect("the shared file can be written");
        let flow = folder.join(format!("{name}.flow"));
        std::fs::copy(example.join(format!("{name}.flow")), &flow).expect("the query can be copied");
        Query { name, binary: support::build(&flow, &folder), folder }
    }

    fn command(&self, parallelism: &str, out: &Path) -> Command {
        let data = support::root().join("examples/nexmark/data");
        let mut command = Command::new(&self.binary);
        if self.name == "q13" {
            command.arg("--side").arg(data.join("side_input.csv.gz"));
        }
        command.args(["--parallelism", parallelism, "--events"]).arg(data.join("events.jsonl.gz")).arg("--out").arg(out);
        command.current_dir(&self.folder);
        command
    }

    /// Runs to its end; what it said.
    fn run(&self, command: &mut Command, what: &str) -> String {
        let output = command.output().expect("the pipeline starts");
        support::assert_success(&output, what);
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// Undisturbed.
    fn calm(&self, parallelism: &str, what: &str) -> PathBuf {
        let out = self.folder.join(format!("out-{parallelism}"));
        self.run(&mut self.command(parallelism, &out), what);
        out
    }

    /// Killed in the middle, and resumed with as many tasks; killed again, and resumed with another number.
    fn killed(&self, parallelism: &str, then: &str, what: &str) -> PathBuf {
        let out = self.folder.join(format!("killed-{parallelism}"));
        let checkpoints = self.folder.join(format!("checkpoints-{parallelism}"));
        let command = |parallelism: &str| {
            let mut command = self.command(parallelism, &out);
            command.args(["--checkpoint-interval", "30ms", "--checkpoint-dir"]).arg(&checkpoints);
            command
        };
        let mut resumes = false;
        for _ in 0..2 {
            let before = newest(&checkpoints);
            let log = std::fs::File::create(self.folder.join(format!("log-{parallelism}"))).expect("a file for what it says");
            // Two and a half seconds to its end.
            let slow = ["--rate", "4000"];
            let mut child =
                command(parallelism).args(slow).stdout(Stdio::null()).stderr(log).spawn().expect("the pipeline starts");
            let mut ended = None;
            support::wait_for(&format!("two checkpoints of {what}"), || {
                ended = child.try_wait().expect("its state is known");
                ended.is_some() || newest(&checkpoints) >= before + 2
            });
            child.kill().expect("SIGKILL can be sent");
            let status = ended.unwrap_or(child.wait().expect("the killed process is reaped"));
            let log = std::fs::read_to_string(self.folder.join(format!("log-{parallelism}"))).unwrap_or_default();
            assert!(!resumes || log.contains("resuming from checkpoint"), "{what} began anew:\n{log}");
            assert!(status.code().is_none_or(|code| code == 0), "{what} failed by itself: {status}\n{log}");
            // It may have ended right before it was killed, or nearly so: then the next start begins anew.
            resumes = !status.success() && newest(&checkpoints) > 0;
        }
        let log = self.run(&mut command(then), what);
        assert!(!resumes || log.contains("resuming from checkpoint"), "{what} began anew:\n{log}");
        out
    }
}

/// The number of the newest checkpoint that is whole; 0: none.
fn newest(checkpoints: &Path) -> u64 {
    let folders = std::fs::read_dir(checkpoints).into_iter().flatten().flatten().map(|entry| entry.path());
    let whole = folders.filter(|folder| folder.join("manifest.json").exists());
    whole.filter_map(|folder| folder.file_name()?.to_str()?.rsplit('-').next()?.parse().ok()).max().unwrap_or(0)
}

/// Runs a query in every way, and hands every output folder to `check`.
fn nexmark(name: &'static str, check: impl Fn(&Path, &str)) {
    let query = Query::build(name, &format!("nexmark-{name}"));
    for (parallelism, then) in [("1", "2"), ("2", "4"), ("4", "1")] {
        let what = format!("{name} at parallelism {parallelism}");
        check(&query.calm(parallelism, &what), &what);
        let what = format!("{what}, killed twice, then at {then}");
        check(&query.killed(parallelism, then, &what), &what);
    }
}

/// The output equals the recorded result of the reference engine.
fn nexmark_equal(query: &'static str) {
    let expected = support::root().join("examples/nexmark/expected");
    let columns = compare::columns(&expected.join(format!("{query}.json")));
    let rows = compare::read(&expected.join(format!("{query}.jsonl.gz")), &columns);
    nexmark(query, |out, what| {
        compare::assert_same(&compare::read(out, &columns), &rows, what);
        if query == "q10" {
            partitions(out, what);
        }
    });
}

macro_rules! nexmark_queries {
    ($($query:ident)*) => {
        $(
            #[test]
            fn $query() {
                nexmark_equal(stringify!($query));
            }
        )*

        const EQUAL: &[&str] = &[$(stringify!($query)),*];
    };
}

nexmark_queries! { q0 q1 q2 q3 q4 q5 q6 q7 q8 q9 q10 q11 q13 q14 q15 q16 q17 q18 q19 q20 q21 q22 q23 }

/// No query stands there without a test.
#[test]
fn every_query_is_compared() {
    let folder = support::root().join("examples/nexmark");
    let files = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut queries: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "flow"))
        .map(|path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned())
        .filter(|name| name != "nexmark")
        .collect();
    queries.sort();
    let mut compared: Vec<String> = EQUAL.iter().chain(&["q12"]).map(|query| (*query).to_owned()).collect();
    compared.sort();
    assert_eq!(queries, compared);
    assert_eq!(queries.len(), 24);
}

/// By the clock on the wall, so only the totals are fixed: every bid is in one window.
#[test]
fn q12() {
    let expected = support::root().join("examples/nexmark/expected");
    let columns = compare::columns(&expected.join("q12-total.json"));
    let rows = compare::read(&expected.join("q12-total.jsonl.gz"), &columns);
    nexmark("q12", |out, what| {
        let mut totals = std::collections::BTreeMap::<String, i64>::new();
        for (row, times) in compare::read(out, &columns) {
            let (bidder, count) = row.split_once(" | ").expect("two columns");
            *totals.entry(bidder.to_string()).or_default() += count.parse::<i64>().expect("a count") * times;
        }
        let totals: Rows = totals.into_iter().map(|(bidder, count)| (format!("{bidder} | {count}"), 1)).collect();
        compare::assert_same(&totals, &rows, what);
    });
}

/// The partitioned output lies in folders named by its columns.
fn partitions(out: &Path, what: &str) {
    let columns = vec![("dt".to_string(), "STRING".to_string()), ("hm".to_string(), "STRING".to_string())];
    let files = compare::files(out);
    assert!(!files.is_empty(), "{what}: no files");
    for file in files {
        for (row, _) in compare::read(&file, &columns) {
            let (dt, hm) = row.split_once(" | ").expect("two columns");
            let folder = format!("dt={}/hm={}", dt.trim_matches('"'), hm.trim_matches('"').replace(':', "%3A"));
            let place = file.parent().expect("a folder").to_string_lossy().into_owned();
            assert!(place.ends_with(&folder), "{what}: a row of {folder} lies in {place}");
        }
    }
}
