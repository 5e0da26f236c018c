//! E0814: what can be wrong with an aggregate in Rust. Places are in the Rust file, but for those over tables.

use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::Name;

const CODE: &str = "E0814";

/// An accumulator that is not complete or cannot be made.
pub fn aggregate_wrong(span: Span, name: &str, label: &str, help: &str) -> Diagnostic {
    Diagnostic::error(CODE, format!("`{name}` cannot be an aggregate"), span, label.to_owned()).with_help(help.to_owned())
}

/// An aggregate without `retract` over a table.
pub fn aggregate_over_table(name: &Name) -> Diagnostic {
    let title = format!("`{}` cannot take rows back", name.text);
    Diagnostic::error(CODE, title, name.span, "rows of this table change and go").with_help(
        "write `impl Retract for ..` beside its `impl Accumulator`, or `| final` before it, if the table comes to an end",
    )
}
