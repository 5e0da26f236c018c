//! Many pipelines in one binary, so that a test builds once: each pipeline's crate becomes a module, and the first argument
//! says which one runs. Takes graphs; leaves a binary in the cache that pipelines are built in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use millstream_compiler::codegen::{EmitOptions, GeneratedCrate, emit};
use millstream_compiler::diagnostics::render::{Style, render_all};
use millstream_compiler::driver::{self, BuildRequest, Cache, Profile};
use millstream_compiler::session::{Loader, Planned, Session};
use millstream_runtime::graph::{ExecutionGraph, JobGraph};

/// The plan of a file, or what is wrong with it.
pub fn plan(path: &str, loader: &dyn Loader) -> Result<Planned, String> {
    let mut session = Session::open(path, loader).map_err(|error| error.to_string())?;
    session.plan().ok_or_else(|| render_all(session.diagnostics(), session.sources(), Style::Plain))
}

/// A binary with many pipelines.
pub struct Bundle {
    binary: PathBuf,
}

impl Bundle {
    /// Builds all of these pipelines, by name. Names are those of Rust modules.
    pub fn build(package: &str, pipelines: &BTreeMap<String, (JobGraph, ExecutionGraph)>) -> Bundle {
        let mut files = BTreeMap::new();
        let mut features = std::collections::BTreeSet::new();
        let (mut modules, mut arms) = (String::new(), String::new());
        for (name, (job, execution)) in pipelines {
            let options = EmitOptions { source: format!("{name}.flow"), folder: Default::default(), version: "0".to_owned() };
            let made = emit(job, execution, &options);
            features.extend(made.features);
            for (path, text) in made.files {
                files.insert(place(name, &path), moved(name, &text));
            }
            modules.push_str(&format!("mod {name};\n"));
            arms.push_str(&format!("        {name:?} => {name}::job(),\n"));
        }
        let main = format!(
            "//! The pipelines of a test.\n\n{modules}\nfn main() -> std::process::ExitCode {{\n    \
             let name = std::env::args().nth(1).unwrap_or_default();\n    let job = match name.as_str() {{\n{arms}        \
             other => panic!(\"no pipeline {{other:?}}\"),\n    }};\n    \
             millstream::run_with_args(job, std::env::args_os().skip(2))\n}}\n"
        );
        files.insert(PathBuf::from("src/main.rs"), main);
        let generated =
            GeneratedCrate { package: package.to_owned(), files, features, rust: Default::default(), crates: Default::default() };
        // The cache of the other end-to-end tests, which holds the runtime already.
        let named = std::env::var_os("MILLSTREAM_HOME").filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = Cache::at(named.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("millstream-home")));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(package);
        let request = BuildRequest { generated: &generated, source: &source, profile: Profile::Quick };
        let built = driver::build(&request, &cache, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
        assert!(built.warnings.is_empty(), "{:#?}", built.warnings);
        Bundle { binary: built.binary }
    }

    /// Runs a pipeline to its end.
    pub fn run(&self, name: &str, args: &[&str]) -> Output {
        self.run_in(Path::new("."), name, args)
    }

    /// Runs a pipeline to its end, with paths relative to a folder.
    pub fn run_in(&self, folder: &Path, name: &str, args: &[&str]) -> Output {
        let mut command = Command::new(&self.binary);
        command.arg(name).args(args).current_dir(folder).env("NO_COLOR", "1").output().expect("the pipeline starts")
    }
}

/// `src/main.rs` of a crate is `mod.rs` of its module.
fn place(name: &str, path: &Path) -> PathBuf {
    let file = path.file_name().expect("a file");
    let folder = Path::new("src").join(name);
    if file == "main.rs" { folder.join("mod.rs") } else { folder.join(file) }
}

/// What was the crate is a module now.
fn moved(name: &str, text: &str) -> String {
    let main = "fn main() -> std::process::ExitCode {\n    millstream::main(job())\n}\n";
    text.replace("crate::", &format!("crate::{name}::")).replace(main, "").replace("fn job() ->", "pub fn job() ->")
}
