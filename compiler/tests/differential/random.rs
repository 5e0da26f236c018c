//! Random pipelines over random rows: late ones, equal times, nulls, NaN and both zeros.
//!
//! Each runs as the compiler plans it at several parallelisms, and as it is written (no pass, no chain), and always gives
//! what the plain interpreter gives.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use millstream_compiler::session::Loader;
use millstream_runtime::graph::{ExecutionGraph, JobGraph};
use serde_json::Value;

use crate::bundle::{self, Bundle};
use crate::interpreter;
use crate::pairs::{self, Pair};
use crate::rows::{self, Rows};
use crate::spec::{self, Random, Row, Spec};

/// Inputs per pipeline.
const INPUTS: u64 = 4;

/// Pipelines that are drawn alike.
pub struct Drawn {
    prefix: &'static str,
    /// How many without asking for more: `MILLSTREAM_PIPELINES=400` for a long look.
    least: u64,
    /// The file, from a seed and the job's name.
    text: fn(u64, &str) -> String,
    /// From a seed and the number of the input.
    run: fn(u64, u64) -> Run,
}

/// What a pipeline reads, by its flags, and the rows that should come out.
struct Run {
    inputs: Vec<(&'static str, Vec<Row>)>,
    expected: Vec<Value>,
}

/// Pipelines over one input.
pub const SINGLE: Drawn = Drawn {
    prefix: "random",
    least: 8,
    text: |seed, name| spec_of(seed).text(name),
    run: |seed, input| {
        let rows = spec::rows(&mut Random::new(1000 * (input + 1) + seed));
        Run { expected: interpreter::expected(&spec_of(seed), &rows), inputs: vec![("--input", rows)] }
    },
};

/// Pipelines over two.
pub const PAIRS: Drawn = Drawn {
    prefix: "pair",
    least: pairs::KINDS,
    text: |seed, name| Pair::random(seed).text(name),
    run: |seed, input| {
        let [left, right] = pairs::inputs(5000 * (input + 1) + seed);
        Run { expected: Pair::random(seed).expected(&left, &right), inputs: vec![("--input", left), ("--other", right)] }
    },
};

fn spec_of(seed: u64) -> Spec {
    spec::spec(&mut Random::new(seed))
}

struct Text(String);

impl Loader for Text {
    fn load(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.clone().into_bytes())
    }
}

impl Drawn {
    fn seeds(&self) -> std::ops::Range<u64> {
        let asked = std::env::var("MILLSTREAM_PIPELINES").ok().and_then(|count| count.parse().ok());
        0..asked.unwrap_or(self.least)
    }

    fn name(&self, seed: u64) -> String {
        format!("{}_{seed}", self.prefix)
    }
}

/// The graphs of all pipelines, each as planned and as written.
pub fn pipelines() -> BTreeMap<String, (JobGraph, ExecutionGraph)> {
    let mut pipelines = BTreeMap::new();
    for drawn in [SINGLE, PAIRS] {
        for seed in drawn.seeds() {
            let name = drawn.name(seed);
            let text = (drawn.text)(seed, &name);
            let planned = bundle::plan("random.flow", &Text(text.clone())).unwrap_or_else(|shown| panic!("{text}\n{shown}"));
            let mut written = planned.built;
            for id in written.topological() {
                written.vertex_mut(id).hints.no_chain = true;
            }
            let execution = ExecutionGraph::expand(&written).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
            pipelines.insert(format!("{name}_as_written"), (written, execution));
            pipelines.insert(name, (planned.job, planned.execution));
        }
    }
    pipelines
}

/// Runs all of them and compares.
pub fn check(bundle: &Bundle, drawn: &Drawn) {
    let scratch = tempfile::tempdir().expect("a folder");
    let mut problems = Vec::new();
    let mut rows_seen = 0;
    for seed in drawn.seeds() {
        let name = drawn.name(seed);
        let text = (drawn.text)(seed, &name);
        for input in 0..INPUTS {
            let Run { inputs, expected } = (drawn.run)(seed, input);
            let (mut given, mut shown) = (Vec::new(), String::new());
            for (flag, rows) in &inputs {
                let path = scratch.path().join(format!("{name}-{input}{flag}.jsonl"));
                let rows = spec::json(rows);
                fs::write(&path, &rows).expect("written");
                given.extend([(*flag).to_owned(), path.display().to_string()]);
                shown.push_str(&format!("{flag}:\n{rows}"));
            }
            let mut wanted = Rows::new();
            for row in expected {
                *wanted.entry(rows::plain(&row)).or_default() += 1;
            }
            rows_seen += wanted.len();
            for (variant, parallelism) in [("", "1"), ("", "3"), ("_as_written", "1"), ("_as_written", "2")] {
                let name = format!("{name}{variant}");
                let out = scratch.path().join(format!("{name}-{input}-{parallelism}")).display().to_string();
                let mut args = vec!["--parallelism", parallelism, "--out", &out];
                args.extend(given.iter().map(String::as_str));
                let output = bundle.run(&name, &args);
                let what = format!("{name}, input {input}, parallelism {parallelism}\n{text}");
                if !output.status.success() {
                    problems.push(format!("{what}{}", String::from_utf8_lossy(&output.stderr)));
                } else if let Some(difference) = rows::difference(&rows::read(Path::new(&out)), &wanted) {
                    problems.push(format!("{what}{difference}{shown}"));
                }
            }
        }
    }
    let shown: Vec<&String> = problems.iter().take(5).collect();
    assert!(problems.is_empty(), "{} problems, the first of them:\n{shown:#?}", problems.len());
    assert!(rows_seen as u64 > drawn.seeds().end * 5, "only {rows_seen} rows were compared: this shows nothing");
}
