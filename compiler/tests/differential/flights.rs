//! The examples over flights give what a script has computed from the same files by other means
//! (`examples/flights/expected/compute.py`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use millstream_runtime::graph::{ExecutionGraph, JobGraph};

use crate::bundle::Bundle;
use crate::rows;

const EXAMPLES: [&str; 3] = ["missed_connections", "route_ranking", "weather_delays"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/flights")
}

/// The graphs of the examples.
pub fn pipelines() -> BTreeMap<String, (JobGraph, ExecutionGraph)> {
    let plan = |name: &str| crate::flink::plan(&folder().join(format!("{name}.flow")));
    EXAMPLES.iter().map(|name| ((*name).to_owned(), plan(name).unwrap_or_else(|shown| panic!("{shown}")))).collect()
}

/// Runs them at two parallelisms and compares.
pub fn check(bundle: &Bundle) {
    let scratch = tempfile::tempdir().expect("a folder");
    let flights = folder().join("../flight_delays/data/flights-2013-01.csv.gz").display().to_string();
    let weather = folder().join("data/weather-*.csv.gz").display().to_string();
    for name in EXAMPLES {
        let expected = rows::read(&folder().join("expected").join(format!("{name}.jsonl")));
        assert!(expected.len() > 100, "{name}");
        for parallelism in ["1", "3"] {
            let out = scratch.path().join(name).join(parallelism).display().to_string();
            let args = ["--parallelism", parallelism, "--flights-path", &flights, "--weather-path", &weather, "--out", &out];
            let output = bundle.run(name, &args);
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            let difference = rows::difference(&rows::read(Path::new(&out)), &expected);
            assert!(difference.is_none(), "{name} at parallelism {parallelism}:\n{}", difference.unwrap_or_default());
        }
    }
}
