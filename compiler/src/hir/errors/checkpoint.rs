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

/// Several checkpoints at once, with a time in which there is none.
pub fn concurrent_with_pause(concurrent: Span, pause: Span) -> Diagnostic {
    let title = "`concurrent` does nothing with `pause`";
    Diagnostic::error("E0215", title, concurrent, "a checkpoint may begin before the one before has ended")
        .with_label(pause, "no checkpoint begins until so long behind the end of the one before")
        .with_help(
            "take one of them away: `pause` leaves time to rows, `concurrent` gives more checkpoints where each takes long",
        )
}

/// Several checkpoints at once, whose barriers overtake rows.
pub fn concurrent_unaligned(concurrent: Span, unaligned: Span) -> Diagnostic {
    let title = "`concurrent` does not go with `unaligned`";
    Diagnostic::error("E0215", title, concurrent, "barriers of the next follow those of a checkpoint that is being taken")
        .with_label(unaligned, "barriers overtake rows, and those of other checkpoints with them")
        .with_help(
            "take `concurrent` away: where barriers overtake rows, a checkpoint is taken at once, and the next can follow soon",
        )
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
