//! E06xx: connectors, formats and their options.

use millstream_runtime::graph::Ty;

use super::{listed, suggest};
use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::Name;

/// A connector that does not exist.
pub fn unknown_connector(name: &Name, candidates: &[&str]) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0601", format!("unknown connector `{}`", name.text), name.span, "there is no such connector");
    suggest(diagnostic, &name.text, name.span, candidates, "connectors")
}

/// A connector on its wrong side.
pub fn wrong_side(name: &Name, source: bool, candidates: &[&str]) -> Diagnostic {
    let (can, cannot) = if source { ("write", "read") } else { ("read", "write") };
    let title = format!("the connector `{}` cannot {cannot}", name.text);
    Diagnostic::error("E0602", title, name.span, format!("it can only {can}"))
        .with_help(format!("connectors that {cannot}: {}", listed(candidates)))
}

/// An option that a connector or format does not have.
pub fn unknown_option(of: &str, name: &Name, candidates: &[&str]) -> Diagnostic {
    let title = format!("`{of}` has no option `{}`", name.text);
    suggest(Diagnostic::error("E0603", title, name.span, "unknown option"), &name.text, name.span, candidates, "options")
}

/// An option that must be given.
pub fn missing_option(of: &str, option: &str, span: Span, doc: &str) -> Diagnostic {
    Diagnostic::error("E0604", format!("`{of}` needs the option `{option}`"), span, format!("`{option}` is missing"))
        .with_help(format!("add `{option}: ..`: {doc}"))
}

/// An option with a value of the wrong type.
pub fn option_type(of: &str, option: &str, span: Span, expected: &str, found: &str) -> Diagnostic {
    let title = format!("the option `{option}` of `{of}` takes {expected}");
    Diagnostic::error("E0605", title, span, format!("this is {found}")).with_help(format!("write {expected}"))
}

/// A path with a scheme that is none, or that looks as if one was meant.
pub fn unknown_place(place: &str, span: Span, meant: Option<String>) -> Diagnostic {
    let known = "there are local paths and `s3://bucket/path`";
    let diagnostic = Diagnostic::error("E0615", format!("`{place}` is no place that is known"), span, known);
    match meant {
        Some(meant) => diagnostic.with_help(format!("did you mean `{meant}`? A local path of this name is `./{place}`")),
        None => diagnostic.with_help("copy the files to a local folder or to a store that speaks S3"),
    }
}

/// A password that everybody can read.
pub fn secret_in_text(of: &str, option: &str, span: Span) -> Diagnostic {
    let title = format!("the secret `{option}` of `{of}` stands in the text");
    Diagnostic::warning("W0802", title, span, "everybody who sees the text or the binary can read it")
        .with_help(format!("take it from the environment: `{option}: ${}`", option.to_uppercase()))
}

/// A word that an option does not know.
pub fn unknown_word(of: &str, option: &str, word: &str, span: Span, words: &[&str]) -> Diagnostic {
    let title = format!("the option `{option}` of `{of}` does not know `{word}`");
    suggest(Diagnostic::error("E0606", title, span, "unknown word"), word, span, words, "it takes")
}

/// A format that does not exist, or that a connector does not take.
pub fn bad_format(connector: &str, name: &str, span: Span, exists: bool, formats: &[&str]) -> Diagnostic {
    let (title, label) = match exists {
        true => (format!("`{connector}` does not take the format `{name}`"), "not for this connector"),
        false => (format!("unknown format `{name}`"), "there is no such format"),
    };
    if formats.is_empty() {
        return Diagnostic::error("E0607", title, span, label).with_help(format!("`{connector}` takes no format: leave it out"));
    }
    suggest(Diagnostic::error("E0607", title, span, label), name, span, formats, "formats here")
}

/// An option given twice.
pub fn option_twice(name: &Name, first: Span) -> Diagnostic {
    Diagnostic::error("E0608", format!("the option `{}` is given twice", name.text), name.span, "given again here")
        .with_label(first, "first given here")
        .with_help("take one of them away")
}

/// A column named in an option that the stream does not have.
pub fn unknown_column(option: &str, name: &str, span: Span, candidates: &[&str]) -> Diagnostic {
    let title = format!("`{option}` names `{name}`, which is no column");
    suggest(Diagnostic::error("E0609", title, span, "unknown column"), name, span, candidates, "columns")
}

/// A column of a record that the connector does not provide.
pub fn no_such_column(connector: &str, column: &str, span: Span, candidates: &[&str]) -> Diagnostic {
    let title = format!("`{connector}` has no column `{column}`");
    let own = column.rsplit('.').next().unwrap_or(column);
    suggest(Diagnostic::error("E0610", title, span, "not among its columns"), own, span, candidates, "it has")
}

/// A column whose type is not the connector's.
pub fn column_type(connector: &str, column: &str, span: Span, has: &Ty, found: &Ty) -> Diagnostic {
    let title = format!("the column `{column}` of `{connector}` is {has}, not {found}");
    let own = column.rsplit('.').next().unwrap_or(column);
    Diagnostic::error("E0610", title, span, "declared with another type").with_help(format!("write `{own}: {has}`"))
}

/// Rows that a format cannot carry.
pub fn format_columns(format: &str, span: Span, label: String, help: &str) -> Diagnostic {
    Diagnostic::error("E0611", format!("the format `{format}` cannot carry these columns"), span, label).with_help(help)
}

/// `key (..)` where the connector takes none.
pub fn takes_no_key(connector: &str, span: Span, of: Option<&str>) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0612", format!("`{connector}` takes no `key`"), span, "its rows are never updated");
    diagnostic.with_help(match of {
        Some(of) => format!("take `key (..)` away, or write `impl TableSinkConnector for {of} {{ .. }}` in its Rust file"),
        None => "take `key (..)` away".to_owned(),
    })
}

/// A sink that finds rows by their key, and rows without one.
pub fn needs_key(connector: &str, span: Span, stream: &str, table: bool) -> Diagnostic {
    let why = match table {
        true => format!("the table `{stream}` has no key"),
        false => format!("`{stream}` is a stream, and has no key"),
    };
    Diagnostic::error("E0648", format!("`{connector}` finds rows by their key"), span, why)
        .with_help("say which columns tell rows apart: `key (id)` behind the options")
}

/// A source whose type is no record.
pub fn source_needs_record(span: Span, found: &Ty) -> Diagnostic {
    Diagnostic::error("E0613", "a source gives records", span, format!("this is {found}"))
        .with_help("name a record: `record Line { line: string }`, `source lines: Line from ..`")
}

/// A connector that is a source of its own only.
pub fn no_stage(name: &Name) -> Diagnostic {
    let label = "what a program sends cannot follow on other stages";
    Diagnostic::error("E0614", format!("`{}` cannot be a stage of a hybrid source", name.text), name.span, label)
        .with_help("make it a source of its own, and bring both together: `stream all = history | union live`")
}

/// A connector that has a program at its other end, in a pipeline that is one by itself.
pub fn needs_program(name: &Name) -> Diagnostic {
    let label = "no program is there to hold the other end";
    Diagnostic::error("E0907", format!("`{}` needs a Rust program around the job", name.text), name.span, label).with_help(
        "write the pipeline into a program, by `flow!` or `include_flow!` (docs/embedding.md), or use another connector",
    )
}

/// A source that cannot be read again, in a job with checkpoints.
pub fn not_replayable(span: Span, source: &str, connector: &str) -> Diagnostic {
    let title = format!("rows of `{source}` may be lost in a failure, checkpoints or not");
    Diagnostic::warning("W0601", title, span, format!("`{connector}` cannot be read again: rows come through at most once"))
        .with_help("put a store that keeps what was sent in front of it, such as files or a log, if every row counts")
}
