//! Pipelines in Rust programs: what `flow!`, `include_flow!` and `millstream_build` have in common.
//!
//! From a file, or from text that stands in one, to one module of Rust. The phases are those of the command line.

use millstream_runtime::connectors::channel;

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
    let has_sink = session.has_sink();
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The text under every name that ends in `words.flow`.
    struct Words(String);

    impl Loader for Words {
        fn load(&self, path: &str) -> Result<Vec<u8>, String> {
            match path.ends_with("words.flow") {
                true => Ok(self.0.clone().into_bytes()),
                false => Err("there is no such file".to_owned()),
            }
        }
    }

    fn compiled(rest: &str, place: Place) -> Embedded {
        let text = "record Word { word: string }\nsource words: Word from file { path: \"words.jsonl\" }\n";
        compile("a/words.flow", &Words(format!("{text}{rest}\n")), place).unwrap()
    }

    fn errors(embedded: &Embedded) -> Vec<&'static str> {
        let errors = embedded.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        errors.map(|found| found.code.0).collect()
    }

    #[test]
    fn without_a_job_the_file_names_the_module_and_a_text_has_no_name() {
        const SINK: &str = "sink words into stdout";
        for place in [Place::File, Place::Folder] {
            let embedded = compiled(SINK, place);
            assert_eq!((errors(&embedded), embedded.module.map(|module| module.name)), (vec![], Some("words".to_owned())));
        }
        let embedded = compiled(SINK, Place::Text);
        assert_eq!((errors(&embedded), &embedded.module), (vec!["E0906"], &None));
        assert_eq!(embedded.sources.text(embedded.diagnostics[0].primary.span), "record");
    }

    #[test]
    fn a_file_for_others_makes_no_module_in_a_folder() {
        let embedded = compiled("", Place::Folder);
        assert_eq!((errors(&embedded), &embedded.module), (vec![], &None));
        assert!(compile("a/none.flow", &Words(String::new()), Place::File).is_err());
    }

    /// Names belong to one operator, function or type, in whatever file.
    #[test]
    fn operators_of_one_name_are_refused() {
        const OPERATOR: &str = "pub struct Same;\n#[operator]\nimpl Process for Same {\n    type Input = Word;\n    type Output = Word;\n    \
                                fn process(&mut self, row: Word, cx: &mut Context<'_, Self>) -> Result<(), Failure> { Ok(()) }\n}\n";
        struct Files;
        impl Loader for Files {
            fn load(&self, path: &str) -> Result<Vec<u8>, String> {
                let text = match path {
                    "a.rs" => format!(
                        "use millstream::prelude::*;\n#[derive(Clone, Record)]\npub struct Word {{ pub word: String }}\n{OPERATOR}"
                    ),
                    "b.rs" => format!("use super::a::Word;\nuse millstream::prelude::*;\n{OPERATOR}"),
                    _ => "use rust \"a.rs\"\nuse rust \"b.rs\"\nsource words: Word from file { path: \"words.jsonl\" }\n\
                          sink words | process by word Same {} into stdout\n"
                        .to_owned(),
                };
                Ok(text.into_bytes())
            }
        }
        let embedded = compile("words.flow", &Files, Place::File).unwrap();
        // And a file with an operator is not one with nothing in it.
        let codes: Vec<&str> = embedded.diagnostics.iter().map(|found| found.code.0).collect();
        assert_eq!(codes, ["E0201"]);
        assert_eq!(embedded.sources.file(embedded.diagnostics[0].primary.span.file).path, "b.rs");
    }
}
