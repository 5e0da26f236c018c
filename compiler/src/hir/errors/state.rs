//! What is wrong with the block behind `state`.

use super::suggest;
use crate::diagnostics::Diagnostic;
use crate::syntax::ast::Name;

/// An entry of the block that does not exist.
pub fn unknown(name: &Name, candidates: &[&str]) -> Diagnostic {
    let title = format!("unknown setting `{}` of state on disk", name.text);
    let diagnostic = Diagnostic::error("E0211", title, name.span, "state on disk has no such setting");
    suggest(diagnostic, &name.text, name.span, candidates, "settings of state on disk")
}
