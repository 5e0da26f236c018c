//! E0818: records that say where their rows come from or go.

use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::Name;

const CODE: &str = "E0818";

/// What `#[source(..)]` or `#[sink(..)]` says is not all, or not known.
pub fn binding(span: Span, derive: &str, attribute: &str, name: &str, before: &str, more: &[&str], label: &str) -> Diagnostic {
    let value = |word: &str| if word == "key" { "(id)" } else { ".." };
    let more: String = more.iter().map(|word| format!(", {word} = {}", value(word))).collect();
    Diagnostic::error(CODE, format!("`#[derive({derive})]` does not say what it binds"), span, label.to_owned())
        .with_help(format!("write `#[{attribute}({name} = stream, {before} = file {{ path: \"..\" }}{more})]`"))
}

/// `#[derive(Source)]` without `Record`.
pub fn binding_of_no_record(name: &Name, derive: &str) -> Diagnostic {
    Diagnostic::error(
        CODE,
        format!("`{}` is no record, so it cannot be a {}", name.text, derive.to_lowercase()),
        name.span,
        "not a record",
    )
    .with_help(format!("write `#[derive(Clone, Record, {derive})]`"))
}

/// A stream that has not the columns of the record that its sink writes.
pub fn sink_lacks(span: Span, stream: &str, record: &str, reason: &str) -> Diagnostic {
    Diagnostic::error(CODE, format!("the rows of `{stream}` are no `{record}`"), span, reason.to_owned())
        .with_help("give the stream the columns of the record: `| select { .. }`, or change the record")
}
