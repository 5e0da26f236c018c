//! Random pipelines over random rows: late ones, equal times, nulls, NaN and both zeros.
//!
//! Each runs as the compiler plans it at several parallelisms, and as it is written (no pass, no chain), and always gives
//! what the plain interpreter gives.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use millstream_compiler::diagnostics::render::{Style, render_all};
use millstream_compiler::session::{Loader, Session};
use millstream_runtime::graph::{ExecutionGraph, JobGraph};

use crate::bundle::Bundle;
use crate::interpreter;
use crate::pairs::{self, Pair};
use crate::rows::{self, Rows};
use crate::spec::{self, Random, Spec};

/// How many pipelines; `MILLSTREAM_PIPELINES=400` for a long look.
fn count() -> u64 {
    std::env::var("MILLSTREAM_PIPELINES").ok().and_then(|count| count.parse().ok()).unwrap_or(8)
}

/// Inputs per pipeline.
const INPUTS: u64 = 4;

fn spec_of(seed: u64) -> Spec {
    spec::spec(&mut Random::new(seed))
}

struct Text(String);

impl Loader for Text {
    fn load(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.clone().into_bytes())
    }
}

/// The graphs of all pipelines, each as planned and as written.
pub fn pipelines() -> BTreeMap<String, (JobGraph, ExecutionGraph)> {
    let mut pipelines = BTreeMap::new();
    for seed in 0..count() {
        let name = format!("random_{seed}");
        graphs(&name, &spec_of(seed).text(&name), &mut pipelines);
    }
    for seed in 0..count_of_pairs() {
        let name = format!("pair_{seed}");
        graphs(&name, &Pair::random(seed).text(&name), &mut pipelines);
    }
    pipelines
}

/// How many pipelines over two inputs.
fn count_of_pairs() -> u64 {
    count()
}

/// The graphs of a file, as planned and as written.
fn graphs(name: &str, text: &str, pipelines: &mut BTreeMap<String, (JobGraph, ExecutionGraph)>) {
    let mut session = Session::open("random.flow", &Text(text.to_owned())).expect("the text is there");
    let planned = session.plan();
    let shown = render_all(session.diagnostics(), session.sources(), Style::Plain);
    let planned = planned.unwrap_or_else(|| panic!("{text}\n{shown}"));
    let mut written = planned.built;
    for id in written.topological() {
        written.vertex_mut(id).hints.no_chain = true;
    }
    let execution = ExecutionGraph::expand(&written).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    pipelines.insert(format!("{name}_as_written"), (written, execution));
    pipelines.insert(name.to_owned(), (planned.job, planned.execution));
}

/// Runs those over two inputs and compares.
pub fn check_pairs(bundle: &Bundle) {
    let scratch = tempfile::tempdir().expect("a folder");
    let mut problems = Vec::new();
    let mut rows_seen = 0;
    for seed in 0..count_of_pairs() {
        let pair = Pair::random(seed);
        for input in 0..INPUTS {
            let both = pairs::inputs(5000 * (input + 1) + seed);
            let paths = [0, 1].map(|side| scratch.path().join(format!("{seed}-{input}-{side}.jsonl")).display().to_string());
            for (path, rows) in paths.iter().zip(&both) {
                fs::write(path, spec::json(rows)).expect("written");
            }
            let mut expected = Rows::new();
            for row in pair.expected(&both[0], &both[1]) {
                *expected.entry(rows::plain(&row)).or_default() += 1;
            }
            rows_seen += expected.len();
            for (variant, parallelism) in [("", "1"), ("", "3"), ("_as_written", "1"), ("_as_written", "2")] {
                let name = format!("pair_{seed}{variant}");
                let out = scratch.path().join(format!("{name}-{input}-{parallelism}")).display().to_string();
                let args = ["--parallelism", parallelism, "--input", &paths[0], "--other", &paths[1], "--out", &out];
                let output = bundle.run(&name, &args);
                let what = format!("{name}, input {input}, parallelism {parallelism}\n{}", pair.text(&name));
                if !output.status.success() {
                    problems.push(format!("{what}{}", String::from_utf8_lossy(&output.stderr)));
                } else if let Some(difference) = rows::difference(&rows::read(Path::new(&out)), &expected) {
                    problems.push(format!("{what}{difference}left:\n{}right:\n{}", spec::json(&both[0]), spec::json(&both[1])));
                }
            }
        }
    }
    let shown: Vec<&String> = problems.iter().take(5).collect();
    assert!(problems.is_empty(), "{} problems, the first of them:\n{shown:#?}", problems.len());
    assert!(rows_seen as u64 > count_of_pairs() * 5, "only {rows_seen} rows were compared: this shows nothing");
}

/// Runs all of them and compares.
pub fn check(bundle: &Bundle) {
    let scratch = tempfile::tempdir().expect("a folder");
    let mut problems = Vec::new();
    let mut rows_seen = 0;
    for seed in 0..count() {
        let spec = spec_of(seed);
        for input in 0..INPUTS {
            let rows = spec::rows(&mut Random::new(1000 * (input + 1) + seed));
            let path = scratch.path().join(format!("{seed}-{input}.jsonl"));
            fs::write(&path, spec::json(&rows)).expect("written");
            let path = path.display().to_string();
            let mut expected = Rows::new();
            for row in interpreter::expected(&spec, &rows) {
                *expected.entry(rows::plain(&row)).or_default() += 1;
            }
            rows_seen += expected.len();
            for (variant, parallelism) in [("", "1"), ("", "3"), ("_as_written", "1"), ("_as_written", "2")] {
                let name = format!("random_{seed}{variant}");
                let out = scratch.path().join(format!("{name}-{input}-{parallelism}")).display().to_string();
                let output = bundle.run(&name, &["--parallelism", parallelism, "--input", &path, "--out", &out]);
                let what = format!("{name}, input {input}, parallelism {parallelism}\n{}", spec.text(&name));
                if !output.status.success() {
                    problems.push(format!("{what}{}", String::from_utf8_lossy(&output.stderr)));
                } else if let Some(difference) = rows::difference(&rows::read(Path::new(&out)), &expected) {
                    problems.push(format!("{what}{difference}input:\n{}", spec::json(&rows)));
                }
            }
        }
    }
    let shown: Vec<&String> = problems.iter().take(5).collect();
    assert!(problems.is_empty(), "{} problems, the first of them:\n{shown:#?}", problems.len());
    assert!(rows_seen as u64 > count() * 5, "only {rows_seen} rows were compared: this shows nothing");
}
