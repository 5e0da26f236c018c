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
pub mod state;
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

/// "Did you mean" for a word misspelled in a value, where the label says in backticks what may stand there. `text` is what
/// stands at the label.
pub(crate) fn near_word(diagnostic: Diagnostic, text: &str) -> Diagnostic {
    let place = diagnostic.primary.span;
    let label = diagnostic.primary.message.clone();
    let known: Vec<&str> = label.split('`').skip(1).step_by(2).flat_map(words).map(|(_, word)| word).collect();
    let near = words(text).find_map(|(at, word)| {
        let near = did_you_mean(word, known.iter().copied()).filter(|_| !known.contains(&word))?;
        Some((at, word.len(), near.to_owned()))
    });
    let Some((at, length, near)) = near else { return diagnostic };
    let start = place.start as usize + at;
    let span = Span::new(place.file, start, start + length);
    diagnostic.with_help(format!("did you mean `{near}`?")).with_fix(format!("write `{near}`"), span, near, false)
}

/// The words of a text of three letters and more, and where they begin.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter_map(move |word| {
        let start = at;
        at += word.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
        (word.chars().count() >= 3 && !word.starts_with(|c: char| c.is_ascii_digit())).then_some((start, word))
    })
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
