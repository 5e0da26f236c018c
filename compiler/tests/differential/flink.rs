//! Small queries of the edges, and what a real Apache Flink 2.3 made of them (see `tests/flink/README.md`).
//!
//! Each `NAME.sql` has its `NAME.flow`. Where we differ on purpose, `NAME.ours.jsonl` has our rows, and
//! `docs/differences-from-flink.md` names the case and says why.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use millstream_compiler::session::Loader;
use millstream_runtime::graph::{ExecutionGraph, JobGraph};

use crate::bundle::{self, Bundle};
use crate::rows;

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/flink")
}

struct Disk;

impl Loader for Disk {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        fs::read(path).map_err(|error| error.to_string())
    }
}

/// The names of all cases.
fn names() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "flow"))
        .map(|path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned())
        .filter(|name| name != "tables")
        .collect();
    names.sort();
    names
}

/// The graphs of a file, or what is wrong with it.
pub fn plan(file: &Path) -> Result<(JobGraph, ExecutionGraph), String> {
    let planned = bundle::plan(&file.display().to_string(), &Disk)?;
    Ok((planned.job, planned.execution))
}

/// The graphs of all cases.
pub fn pipelines() -> BTreeMap<String, (JobGraph, ExecutionGraph)> {
    let mut pipelines = BTreeMap::new();
    let mut wrong = String::new();
    for name in names() {
        match plan(&folder().join(format!("{name}.flow"))) {
            Ok(planned) => {
                pipelines.insert(name, planned);
            }
            Err(shown) => wrong.push_str(&shown),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    pipelines
}

/// Runs every case at several parallelisms and compares.
pub fn check(bundle: &Bundle) {
    let page = fs::read_to_string(folder().join("../../../docs/differences-from-flink.md")).expect("the page of differences");
    let scratch = tempfile::tempdir().expect("a folder");
    let inputs = folder().join("inputs").display().to_string();
    let mut problems = Vec::new();
    for name in names() {
        let recorded = rows::read(&folder().join(format!("{name}.jsonl")));
        let ours = folder().join(format!("{name}.ours.jsonl"));
        let expected = if ours.is_file() { rows::read(&ours) } else { recorded.clone() };
        let explained = page.contains(&format!("`{name}`"));
        if ours.is_file() != explained {
            problems.push(format!("{name}: differs or not, but docs/differences-from-flink.md says otherwise"));
        }
        if ours.is_file() && expected == recorded {
            problems.push(format!("{name}: is said to differ, and does not"));
        }
        for parallelism in ["1", "3"] {
            let out = scratch.path().join(&name).join(parallelism).display().to_string();
            let output = bundle.run(&name, &["--parallelism", parallelism, "--inputs", &inputs, "--out", &out]);
            if !output.status.success() {
                problems.push(format!("{name} at parallelism {parallelism}: {}", String::from_utf8_lossy(&output.stderr)));
            } else if let Some(difference) = rows::difference(&rows::read(Path::new(&out)), &expected) {
                problems.push(format!("{name} at parallelism {parallelism}:\n{difference}"));
            }
        }
    }
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}
