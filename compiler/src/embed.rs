//! Pipelines in Rust programs: what `flow!`, `include_flow!` and `millstream_build` have in common.
//!
//! From a file, or from text that stands in one, to one module of Rust. The phases are those of the command line.

use millstream_runtime::connectors::channel;
use millstream_runtime::graph::Operation;

use crate::codegen::{EmitOptions, GeneratedModule, emit_module};
use crate::diagnostics::{Diagnostic, Severity};
use crate::hir::errors;
use crate::session::{Loader, OpenError, Session};
use crate::source::{FileId, SourceMap, Span};
use crate::syntax::ast::ItemKind;

/// What became of a pipeline.
#[derive(Clone, Debug)]
pub struct Embedded {
    /// Its files; the first is the one that was named.
    pub sources: SourceMap,
    /// All mistakes and warnings, in order of place.
    pub diagnostics: Vec<Diagnostic>,
    /// None: there are mistakes, or it is there for others to use.
    pub module: Option<GeneratedModule>,
}

/// Where a pipeline stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the text of a program: it must have a job, which names the module.
    Text,
    /// In a file, which names the module where there is no job.
    File,
    /// In a folder of files: one without a sink is there for others to use, and makes no module.
    Folder,
}

/// Nesting of expressions is recursion.
const STACK: usize = 256 << 20;

/// Compiles a pipeline to a module, on a thread of its own: with room for deep nesting. In a macro there must be another thread: on
/// rustc's, `proc_macro2` would make tokens of rustc's, which no other thread can use.
pub fn compile(path: &str, loader: &(dyn Loader + Sync), place: Place) -> Result<Embedded, OpenError> {
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || compile_here(path, loader, place));
        match worker.map(|worker| worker.join()) {
            Ok(Ok(compiled)) => compiled,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => Err(OpenError { path: path.to_owned(), reason: format!("no thread can be started: {error}") }),
        }
    })
}

fn compile_here(path: &str, loader: &dyn Loader, place: Place) -> Result<Embedded, OpenError> {
    let mut session = Session::open(path, loader)?;
    let has_sink = session.program().nodes.iter().any(|node| matches!(node.operation, Operation::Sink(_)));
    let planned = if has_sink || place != Place::Folder { session.plan() } else { None };
    let mut diagnostics = session.diagnostics().to_vec();
    if place == Place::Text && !has_job(&session) {
        diagnostics.insert(0, without_job(&session));
    }
    let module = planned.filter(|_| !diagnostics.iter().any(|found| found.severity == Severity::Error)).map(|planned| {
        let folder = std::env::current_dir().unwrap_or_default();
        let options = EmitOptions { source: path.to_owned(), folder, version: env!("CARGO_PKG_VERSION").to_owned() };
        emit_module(&planned.job, &planned.execution, &options)
    });
    Ok(Embedded { sources: session.sources().clone(), diagnostics, module })
}

/// What cannot run without a program around it, each at its place: for those who build a binary of a pipeline alone.
pub fn needs_program(session: &Session) -> Vec<Diagnostic> {
    let items = session.files().iter().flat_map(|(_, file)| &file.items);
    let connectors = items.filter_map(|item| match &item.kind {
        ItemKind::Source(source) => Some(&source.connector.name),
        ItemKind::Sink(sink) => Some(&sink.connector.name),
        _ => None,
    });
    connectors.filter(|name| name.text == channel::NAME).map(errors::connectors::needs_program).collect()
}

fn has_job(session: &Session) -> bool {
    let mut items = session.files().iter().flat_map(|(_, file)| &file.items);
    items.any(|item| match &item.kind {
        ItemKind::Job(_) => true,
        // One that does not parse is reported already.
        ItemKind::Error(_) => session.sources().text(item.span).trim_start().starts_with("job"),
        _ => false,
    })
}

/// At the first word of the text.
fn without_job(session: &Session) -> Diagnostic {
    let text = session.sources().files().next().map_or("", |(_, file)| &file.text);
    let start = text.len() - text.trim_start().len();
    let word = text[start..].find(char::is_whitespace).map_or(text.len(), |end| start + end);
    let span = Span::new(FileId(0), start, word);
    Diagnostic::error("E0906", "this pipeline has no job", span, "the module is called like the job")
        .with_help("write `job orders {}` before everything else, with a name of your own")
}
