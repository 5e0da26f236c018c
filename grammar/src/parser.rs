//! The parser that pest makes of `flow.pest`, and what it knows of a failure.

use std::collections::BTreeSet;
use std::sync::Mutex;

use pest::Parser;
use pest::error::InputLocation;

/// Parses by the rules of `flow.pest`.
#[allow(missing_docs)] // the derive makes an undocumented enum of rules
mod derived {
    /// Parses by the rules of `flow.pest`.
    #[derive(pest_derive::Parser)]
    #[grammar = "flow.pest"]
    pub struct FlowParser;
}

pub use derived::{FlowParser, Rule};

/// How far a failed parse got, and what could have stood there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// Byte offset of the furthest place reached.
    pub at: usize,
    /// Literal tokens that would have fit: `,`, `where`.
    pub tokens: BTreeSet<String>,
    /// Rules that were tried there.
    pub rules: BTreeSet<Rule>,
    /// The parser gave up before the end: the text is too deep or too long for it.
    pub gave_up: bool,
}

/// Parses again text that does not parse, this time keeping what was expected at the furthest place.
///
/// None: it parses after all. The switch for details is one per process, so that parses with details wait for each other;
/// others running at the same moment may collect details that they do not use.
pub fn detailed_error(rule: Rule, text: &str) -> Option<Failure> {
    static DETAILS: Mutex<()> = Mutex::new(());
    let result = {
        let _guard = DETAILS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        pest::set_error_detail(true);
        let result = FlowParser::parse(rule, text);
        pest::set_error_detail(false);
        result
    };
    let error = result.err()?;
    let mut failure = Failure::default();
    if let pest::error::ErrorVariant::CustomError { .. } = error.variant {
        failure.gave_up = true;
    }
    failure.at = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    };
    if let Some(attempts) = error.parse_attempts() {
        failure.at = attempts.max_position;
        failure.tokens = attempts.expected_tokens().iter().filter_map(literal).collect();
        for stack in attempts.call_stacks() {
            failure.rules.extend(stack.deepest.get_rule().copied());
            failure.rules.extend(stack.parent);
        }
    }
    Some(failure)
}

/// Literal tokens only: ranges (`a..z`) and character classes say nothing to a person.
fn literal(token: &impl ToString) -> Option<String> {
    let text = token.to_string();
    let range = text.chars().count() == 4 && text.contains("..");
    (!range && text != "BUILTIN_RULE").then_some(text)
}
