//! From graphs to the files of a crate. Pure: writes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use millstream_runtime::functions as library;
use millstream_runtime::graph::{
    AggregateOperation, ExecutionGraph, Expr, ExprKind, JobGraph, Literal, Operation, RustCrate, StateSettings, TopOperation,
    Window,
};
use proc_macro2::{Ident, TokenStream};

use super::context::Context;
use super::names::Scope;
use super::rust::{self, RustModules};
use super::{chain, functions, job, names, params};
use crate::plan::analysis::exprs::{self, for_each};

/// What emission needs to know besides the graphs.
#[derive(Clone, Debug)]
pub struct EmitOptions {
    /// The file that the job comes from, as the user named it.
    pub source: String,
    /// What the paths of the job's Rust files are relative to.
    pub folder: PathBuf,
    /// The version of the compiler.
    pub version: String,
}

/// A crate in memory: Rust files below `src/`. The manifest is made by the driver, which knows where the runtime lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedCrate {
    /// From the name of the job: a plain name for packages.
    pub package: String,
    /// Contents by path within the crate.
    pub files: BTreeMap<PathBuf, String>,
    /// Features of the facade crate that its connectors need.
    pub features: BTreeSet<&'static str>,
    /// Rust files of the user that are modules of it: where they lie, and how the user named them.
    pub rust: BTreeMap<PathBuf, String>,
    /// Crates that it takes items from, by their names in Rust.
    pub crates: BTreeMap<String, RustCrate>,
}

/// Parsing and printing of generated code recurse with the nesting of expressions, many large frames a level.
const STACK: usize = 256 << 20;

/// Emits the crate of a job.
pub fn emit(job: &JobGraph, execution: &ExecutionGraph, options: &EmitOptions) -> GeneratedCrate {
    on_large_stack(|| emit_here(job, execution, options))
}

/// Does something on a thread that has room for deeply nested expressions.
pub(super) fn on_large_stack<T: Send>(work: impl Fn() -> T + Send + Sync) -> T {
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().stack_size(STACK);
        match worker.spawn_scoped(scope, &work) {
            Ok(worker) => worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // No room for another thread: the stack at hand must do.
            Err(_) => work(),
        }
    })
}

fn emit_here(job: &JobGraph, execution: &ExecutionGraph, options: &EmitOptions) -> GeneratedCrate {
    let mut names = module_names();
    let cx = Context::new(job, RustModules::new(job, &mut names));
    let parts = parts(&cx, execution, &mut names, &TokenStream::new(), |_| None);
    let names: Vec<Ident> = parts.modules.iter().map(|(name, _)| name.clone()).collect();
    let mut files = BTreeMap::new();
    let main = job::main(&header(options), &cx.rust.render(job, &options.folder), &names, &parts.job);
    files.insert(PathBuf::from("src/main.rs"), print(main));
    for (module, tokens) in parts.modules {
        files.insert(job::file_of(&module), print(tokens));
    }
    let crates = job.rust.iter().filter_map(|module| module.of_crate.as_ref());
    let crates = crates.map(|of| (of.name.clone(), of.clone())).collect();
    let rust = job.rust.iter().map(|module| (options.folder.join(&module.path), module.path.clone())).collect();
    GeneratedCrate { package: names::package(&job.settings.name), files, features: features(job), rust, crates }
}

/// What a job consists of in Rust.
pub(super) struct Parts {
    pub(super) modules: Vec<(Ident, TokenStream)>,
    /// The function that makes the job.
    pub(super) job: TokenStream,
}

/// Names of modules, with those that are given.
pub(super) fn module_names() -> Scope {
    Scope::with(&["types", "params", "functions", "patterns", "conversions", "job", "main", "api", "millstream", "std", "core"])
}

/// All modules of a job, after those of Rust files, which have taken their names. `extra` makes one more, which may ask for types.
pub(super) fn parts<'a>(
    cx: &'a Context<'a>,
    execution: &'a ExecutionGraph,
    module_names: &mut Scope,
    visibility: &TokenStream,
    extra: impl FnOnce(&'a Context<'a>) -> Option<(Ident, TokenStream)>,
) -> Parts {
    let chain_modules: Vec<Ident> =
        execution.chains.iter().map(|chain| module_names.value(&format!("chain_{}", chain.name))).collect();
    let mut modules: Vec<(Ident, TokenStream)> = execution
        .chains
        .iter()
        .zip(&chain_modules)
        .map(|(chain, module)| (module.clone(), chain::render(cx, execution, chain)))
        .collect();
    let fingerprint = xxhash_rust::xxh3::xxh3_64(execution.plan_text(cx.job).as_bytes());
    let job = job::job(cx, execution, fingerprint, &chain_modules, visibility);
    modules.extend(extra(cx));
    // What follows holds only what was asked for by what came before.
    modules.extend(functions::render(cx).map(|tokens| (names::ident("functions"), tokens)));
    modules.extend(params::render(cx).map(|tokens| (names::ident("params"), tokens)));
    modules.extend(cx.patterns.borrow().render().map(|tokens| (names::ident("patterns"), tokens)));
    modules.extend(rust::conversions(cx).map(|tokens| (names::ident("conversions"), tokens)));
    modules.extend(cx.types.borrow_mut().render().map(|tokens| (names::ident("types"), tokens)));
    Parts { modules, job }
}

/// What the connectors and functions of a job need beyond the runtime.
pub(super) fn features(job: &JobGraph) -> BTreeSet<&'static str> {
    let (mut names, mut calendar) = (BTreeSet::new(), false);
    for id in job.topological() {
        match &job.vertex(id).operation {
            Operation::Source(source) => {
                names.insert(source.connector.as_str());
                names.extend(source.stages.iter().map(|stage| stage.connector.as_str()));
            }
            Operation::Aggregate(AggregateOperation { window: Some(Window::Calendar { .. }), .. })
            | Operation::Top(TopOperation { window: Some(Window::Calendar { .. }), .. }) => calendar = true,
            Operation::Join(join) => names.extend(join.lookup().map(|lookup| lookup.connector.as_str())),
            Operation::Sink(sink) => drop(names.insert(sink.connector.as_str())),
            _ => {}
        }
    }
    let mut features: BTreeSet<&'static str> = names.into_iter().filter_map(|name| job.connector(name)?.feature).collect();
    features.extend(calendar.then_some("zones"));
    let mut of_functions = |expr: &Expr| {
        expr.walk(&mut |node| {
            if let ExprKind::Call { function, .. } = &node.kind {
                features.extend(library::find(function).and_then(|function| function.feature));
            }
        });
    };
    for id in job.topological() {
        for_each(&job.vertex(id).operation, &mut |_, expr| of_functions(expr));
    }
    job.functions.iter().for_each(|function| of_functions(&function.body));
    job.settings.checkpoint.iter().for_each(|checkpoint| of_functions(&checkpoint.directory));
    if let StateSettings::Disk { path, .. } = &job.settings.state {
        of_functions(path);
        features.insert("disk");
    }
    if names_bucket(job) {
        features.insert("s3");
    }
    features
}

/// Whether a text that may say where something is names a bucket: the folder of checkpoints, options of connectors, and defaults
/// of params, which may become either.
fn names_bucket(job: &JobGraph) -> bool {
    let mut found = false;
    let mut look = |expr: &Expr| {
        expr.walk(&mut |node| {
            found |= matches!(&node.kind, ExprKind::Literal(Literal::String(text)) if text.contains("s3://"));
        });
    };
    job.settings.checkpoint.iter().for_each(|checkpoint| look(&checkpoint.directory));
    job.params.iter().filter_map(|param| param.default.as_ref()).for_each(&mut look);
    for id in job.topological() {
        for_each(&job.vertex(id).operation, &mut |scope, expr| {
            if scope == exprs::Scope::Start {
                look(expr);
            }
        });
    }
    found
}

pub(super) fn header(options: &EmitOptions) -> String {
    let source = PathBuf::from(&options.source);
    let name = source.file_name().map_or_else(|| options.source.clone(), |name| name.to_string_lossy().into_owned());
    format!("Generated by millstream {} from {name}. Edit that file, not this one.", options.version)
}

/// Tokens as formatted text. Tokens that are no file (a mistake of a template) come out as they are, so that rustc says
/// where they are wrong.
pub(super) fn print(tokens: TokenStream) -> String {
    match syn::parse2::<syn::File>(tokens.clone()) {
        Ok(file) => spaced(file),
        Err(error) => format!("// internal error: {error}\n{tokens}\n"),
    }
}

/// A file with an empty line between its items; `use` and `mod` lines stand together.
fn spaced(file: syn::File) -> String {
    let part = |attrs, items| prettyplease::unparse(&syn::File { shebang: None, frontmatter: None, attrs, items });
    let mut text = part(file.attrs, Vec::new());
    let mut before = None;
    for item in file.items {
        let kind = match item {
            syn::Item::Use(_) => "use",
            syn::Item::Mod(_) => "mod",
            _ => "",
        };
        if before != Some(kind) || kind.is_empty() {
            text.push('\n');
        }
        text.push_str(&part(Vec::new(), vec![item]));
        before = Some(kind);
    }
    text
}
