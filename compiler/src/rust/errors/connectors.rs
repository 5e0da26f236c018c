//! E0813: what can be wrong in the struct of a connector. Places are in the Rust file.

use crate::diagnostics::{Diagnostic, did_you_mean};
use crate::rust::Written;
use crate::source::Span;
use crate::syntax::ast::Name;

const CODE: &str = "E0813";

/// A connector or an option that nobody explains.
pub(in crate::rust) fn connector_undocumented(name: &Name, what: &str) -> Diagnostic {
    let title = format!("the {what} `{}` has no doc comment", name.text);
    Diagnostic::error(CODE, title, name.span, "its users read nothing else")
        .with_help("write `/// ..` above it; `millstream connectors` shows it")
}

/// A tuple struct.
pub(in crate::rust) fn connector_fields(name: &Name) -> Diagnostic {
    Diagnostic::error(CODE, format!("the options of `{}` have no names", name.text), name.span, "its fields have no names")
        .with_help("write `pub struct Poll { pub url: String }`: each field is an option")
}

/// `#[flow(..)]` on a connector or an option.
pub(in crate::rust) fn connector_attribute(word: &str, span: Span, known: &[&str]) -> Diagnostic {
    let title = if word.is_empty() { "cannot read `#[flow(..)]`".to_owned() } else { format!("unknown attribute `{word}`") };
    let list = known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let diagnostic = Diagnostic::error(CODE, title, span, "not known here");
    match did_you_mean(word, known.iter().copied()) {
        Some(meant) => diagnostic.with_help(format!("did you mean `{meant}`? known are {list}")).with_fix(
            format!("write `{meant}`"),
            span,
            meant,
            false,
        ),
        None => diagnostic.with_help(format!("known are {list}")),
    }
}

/// Two options of one name.
pub(in crate::rust) fn connector_option_twice(name: &Name, first: Span) -> Diagnostic {
    Diagnostic::error(CODE, format!("two options are called `{}`", name.text), name.span, "the second one")
        .with_label(first, "the first one")
        .with_help("give one of them another name")
}

/// An option that every connector has.
pub(in crate::rust) fn connector_option_taken(name: &Name) -> Diagnostic {
    let title = format!("every connector has an option `{}` already", name.text);
    Diagnostic::error(CODE, title, name.span, "this name is taken").with_help("give it another name")
}

/// A connector with the name of a built-in one.
pub fn connector_name_taken(name: &Name, by: &str) -> Diagnostic {
    Diagnostic::error("E0805", format!("the connector `{}` has the name of {by}", name.text), name.span, format!("this is {by}"))
        .with_help("give it another name here: `#[flow(name = \"my_name\")]`")
}

/// Nothing to read and nothing to write.
pub fn connector_without_sides(name: &Name, connector: &str) -> Diagnostic {
    let title = format!("the connector `{connector}` can neither read nor write");
    Diagnostic::error(CODE, title, name.span, "nothing is made of these options").with_help(format!(
        "write `impl SourceConnector for {0} {{ .. }}`, `impl SinkConnector for {0} {{ .. }}` or, where it takes tables, \
         `impl TableSinkConnector for {0} {{ .. }}` in the same file",
        name.text
    ))
}

/// `keyed` of a connector that no table can be written to.
pub fn connector_keyed_without_tables(span: Span, of: &str) -> Diagnostic {
    Diagnostic::error(CODE, "only rows of tables are found by their key", span, format!("`{of}` takes no tables"))
        .with_help(format!("write `impl TableSinkConnector for {of} {{ .. }}` in the same file, or take `keyed` away"))
}

/// A type that no option has, or one that does not go with an attribute.
pub fn connector_option_type(written: &Written, reason: &str, help: &str) -> Diagnostic {
    let title = format!("no option has the type `{}`", written.text);
    Diagnostic::error(CODE, title, written.span, reason.to_owned()).with_help(help.to_owned())
}

/// A default that is no value of the option, or a format that does not exist.
pub fn connector_default(span: Span, title: String, help: String) -> Diagnostic {
    Diagnostic::error(CODE, title, span, "not as it is written in the language").with_help(help)
}
