//! The examples of the reference give the rows below them (`docs/language`; `UPDATE_DOCS=1` writes these).

use std::collections::BTreeMap;
use std::fs;

use millstream_compiler::session::Loader;
use millstream_runtime::graph::{ExecutionGraph, JobGraph};

use crate::bundle::{self, Bundle};
use crate::examples::{self, Example};
use crate::rows;

struct Page<'e>(&'e Example);

impl Loader for Page<'_> {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        match path {
            "page.flow" => Ok(self.0.text().into_bytes()),
            path => fs::read(examples::folder().join("shop").join(path)).map_err(|error| error.to_string()),
        }
    }
}

/// The graphs of all examples.
pub fn pipelines() -> BTreeMap<String, (JobGraph, ExecutionGraph)> {
    let mut pipelines = BTreeMap::new();
    let mut wrong = String::new();
    for example in examples::all() {
        match bundle::plan("page.flow", &Page(&example)) {
            Ok(planned) => {
                pipelines.insert(format!("page_{}", example.name), (planned.job, planned.execution));
            }
            Err(shown) => wrong.push_str(&format!("{}:{}\n{shown}\n", example.page.display(), example.line)),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    pipelines
}

/// Runs all of them, alone and in parallel, and compares.
pub fn check(bundle: &Bundle) {
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    let shop = examples::folder().join("shop");
    let mut problems = String::new();
    // From the end, so that places on the page stay what they are.
    for example in examples::all().iter().rev() {
        let name = format!("page_{}", example.name);
        let what = format!("{}:{}", example.page.display(), example.line);
        for parallelism in ["1", "2"] {
            let printed = bundle.run_in(&shop, &name, &["--parallelism", parallelism]);
            let given = String::from_utf8_lossy(&printed.stdout);
            if !printed.status.success() {
                problems.push_str(&format!("{what}: {}\n", String::from_utf8_lossy(&printed.stderr)));
                continue;
            }
            let Some(difference) = rows::difference(&rows::of(&given), &rows::of(&example.rows)) else { continue };
            if update {
                let mut text = fs::read_to_string(&example.page).expect("a page");
                text.replace_range(example.place.clone(), &given);
                fs::write(&example.page, text).expect("the page can be written");
                break;
            }
            problems.push_str(&format!("{what} at parallelism {parallelism}:\n{}{difference}\n", example.block));
        }
    }
    assert!(problems.is_empty(), "UPDATE_DOCS=1 writes what is\n{problems}");
}
