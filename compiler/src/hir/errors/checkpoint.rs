//! What is wrong with the block behind `checkpoint`.

use super::suggest;
use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::Name;

/// An entry of the block that does not exist.
pub fn unknown(name: &Name, candidates: &[&str]) -> Diagnostic {
    let title = format!("unknown setting `{}` of checkpoints", name.text);
    let diagnostic = Diagnostic::error("E0211", title, name.span, "checkpoints have no such setting");
    suggest(diagnostic, &name.text, name.span, candidates, "settings of checkpoints")
}

/// Barriers that overtake rows, where barriers hold nothing back.
pub fn unaligned_at_least_once(unaligned: Span, mode: Span) -> Diagnostic {
    Diagnostic::error("E0215", "`unaligned` does nothing with `mode: at_least_once`", unaligned, "there is nothing to overtake")
        .with_label(mode, "rows that follow a barrier are not held back here")
        .with_help("take one of them away: `unaligned` keeps exactly once, `mode: at_least_once` gives it up")
}

/// A checkpoint is given up before its barriers would overtake anything.
pub fn unaligned_too_late(unaligned: Span, timeout: Option<Span>) -> Diagnostic {
    let title = "`unaligned` comes later than `timeout`";
    let diagnostic = Diagnostic::error("E0215", title, unaligned, "the checkpoint has been given up by then");
    let diagnostic = match timeout {
        Some(timeout) => diagnostic.with_label(timeout, "given up here"),
        None => diagnostic,
    };
    diagnostic.with_help("write a shorter time behind `unaligned: after`, or a longer `timeout` (10m where none is given)")
}
