//! What could have stood at a place, said shortly: many tokens become one noun.

use std::collections::BTreeSet;

use millstream_grammar::{Rule, nouns};

/// Tokens and nouns that would have fit.
pub(super) struct Expected {
    pub tokens: BTreeSet<String>,
    pub nouns: BTreeSet<&'static str>,
}

/// First tokens of an expression.
const OPERANDS: &[&str] = &[
    "(", "[", "{", "$", "@", "\"", "f\"", "r\"", "r#\"", "-", "not", "0x", "true", "false", "null", "if", "match", "cast",
    "try_cast", "`", "_",
];
/// What goes on behind an operand.
const OPERATORS: &[&str] = &[
    "==", "!=", "<", "<=", ">", ">=", "??", "+", "-", "*", "/", "%", "in", "between", "like", "matches", "not", "and", "or",
    "is", "?.", ".", "[", "over", "(", "=", "as",
];
/// Words that begin an operator, those of later editions too.
pub(super) const STAGES: &[&str] = &[
    "where",
    "select",
    "explode",
    "union",
    "watermark",
    "dedup",
    "aggregate",
    "final",
    "changes",
    "rebalance",
    "broadcast",
    "partition",
    "join",
    "top",
    "sort",
    "intersect",
    "except",
    "distinct",
    "process",
    "iterate",
    "match",
    "left",
    "right",
    "full",
    "semi",
    "anti",
];
/// Words that are no names without backticks.
pub(crate) const RESERVED: &[&str] =
    &["and", "or", "not", "in", "is", "like", "matches", "between", "null", "true", "false", "if", "then", "else"];
/// Tokens that only take mistakes, and later editions' words.
const NEVER: &[&str] = &[
    " ", "\t", "\r", "\n", "\u{A0}", "\u{FEFF}", "//", "!", "&&", "||", "<>", "===", "!==", ":=", "->", ";", "=>>", "left",
    "right", "full", "semi", "anti", "join", "process", "iterate", "hybrid", "rust", "crate", "every", "\\", "{{", "}}", "E",
    "e", "_", "///",
];

impl Expected {
    pub fn new(rule: Rule, failure: &millstream_grammar::Failure) -> Self {
        let mut expected = Expected { tokens: failure.tokens.clone(), nouns: BTreeSet::new() };
        // Where `:` belongs, `=` and `:=` are taken by mistake only; behind a stream's name it is the other way round.
        if expected.has(":=") && expected.has(":") && expected.has("=") {
            let equals = matches!(rule, Rule::stream_item | Rule::hybrid_stage_only);
            expected.tokens.remove(if equals { ":" } else { "=" });
        }
        expected.tokens.retain(|token| !NEVER.contains(&token.as_str()));
        expected.collapse(&["\"", "if", "f\""], OPERANDS, Some("an expression"));
        expected.collapse(&["where", "dedup", "final"], STAGES, Some("an operator (`where`, `select`, `aggregate`, ..)"));
        expected.collapse(&["==", "+"], OPERATORS, None);
        expected.collapse(&["list", "map"], &["list", "map", "{", "`"], Some("a type"));
        expected.collapse(&["`"], RESERVED, None);
        expected.collapse(&["`"], &["`"], Some("a name"));
        if expected.has("|") {
            expected.nouns.retain(|noun| !noun.starts_with("an operator"));
        }
        if expected.tokens.len() > 1 {
            // What may follow anyway says nothing.
            expected.tokens.retain(|token| !matches!(token.as_str(), "(" | "?" | "@"));
        }
        if expected.nouns.is_empty() && expected.tokens.is_empty() {
            expected.nouns.extend(after(rule).or_else(|| failure.rules.iter().find_map(|rule| nouns::noun(*rule))));
        }
        expected
    }

    /// Replaces tokens that all belong to one thing by its noun, if the signs of the thing are there.
    fn collapse(&mut self, signs: &[&str], members: &[&str], noun: Option<&'static str>) {
        if signs.iter().all(|sign| self.has(sign)) {
            self.tokens.retain(|token| !members.contains(&token.as_str()));
            self.nouns.extend(noun);
        }
    }

    /// Whether a token would have fit.
    pub fn has(&self, token: &str) -> bool {
        self.tokens.contains(token)
    }

    /// `` a type, `=` or `,` ``; empty: nothing worth saying.
    pub fn text(&self) -> String {
        let nouns = self.nouns.iter().map(|noun| noun.to_string());
        let mut words: Vec<String> = nouns.chain(self.tokens.iter().map(|token| format!("`{token}`"))).collect();
        if words.len() > 6 {
            words.truncate(6);
        }
        match words.pop() {
            None => String::new(),
            Some(last) if words.is_empty() => last,
            Some(last) => format!("{} or {last}", words.join(", ")),
        }
    }
}

/// What may follow a finished piece of this kind.
fn after(rule: Rule) -> Option<&'static str> {
    match rule {
        Rule::select_item_only => Some("`,`"),
        Rule::stage_only => Some("`|`"),
        Rule::column_only | Rule::option_only | Rule::setting_only => Some("`,` or a new line"),
        _ => None,
    }
}

/// What ends where a piece of this kind ends, if nothing that shows stands behind it.
pub(super) fn end_of(rule: Rule) -> &'static str {
    match rule {
        Rule::column_only | Rule::option_only | Rule::setting_only | Rule::select_item_only => "the end of the entry",
        Rule::stage_only => "the end of the operator",
        _ => "the end of the item",
    }
}
