//! What lowering has to say to the user: one constructor function per mistake, one file per topic.
//!
//! The title says what is wrong, the label why it is wrong here, the help what to type. Every code has a page in
//! `diagnostics/pages/`.

pub mod checkpoint;
pub mod connectors;
pub mod hybrid;
pub mod joins;
pub mod names;
pub mod over;
pub mod tables;
pub mod time;
pub mod types;

use crate::diagnostics::{Diagnostic, did_you_mean};
use crate::source::Span;

/// Adds "did you mean" with its fix, or else lists what there is.
fn suggest(diagnostic: Diagnostic, name: &str, span: Span, candidates: &[&str], what: &str) -> Diagnostic {
    if let Some(near) = did_you_mean(name, candidates.iter().copied()) {
        let help = format!("did you mean `{near}`?");
        return diagnostic.with_help(help).with_fix(format!("write `{near}`"), span, near, false);
    }
    match candidates.is_empty() {
        true => diagnostic,
        false => diagnostic.with_help(format!("{what}: {}", listed(candidates))),
    }
}

/// `` `a`, `b`, `c` ``; long lists are cut.
pub(crate) fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 12;
    let mut text = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}
