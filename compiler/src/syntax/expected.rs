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
    "is", "?.", ".", "[", "over", "(",
];
const STAGES: &[&str] = &[
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
];
/// Tokens that only take mistakes, and later editions' words.
const NEVER: &[&str] = &[
    " ", "\t", "\r", "\n", "\u{A0}", "\u{FEFF}", "//", "!", "&&", "||", "<>", "===", "!==", ":=", "->", ";", "=>>", "left",
    "right", "full", "semi", "anti", "join", "top", "sort", "process", "iterate", "hybrid", "rust", "crate", "every", "\\", "{{",
    "}}", "0b",
];

impl Expected {
    pub fn new(failure: &millstream_grammar::Failure) -> Self {
        let mut tokens: BTreeSet<String> =
            failure.tokens.iter().filter(|token| !NEVER.contains(&token.as_str())).cloned().collect();
        let mut nouns = BTreeSet::new();
        let mut collapse = |tokens: &mut BTreeSet<String>, signs: &[&str], members: &[&str], noun: Option<&'static str>| {
            if signs.iter().all(|sign| tokens.contains(*sign)) {
                tokens.retain(|token| !members.contains(&token.as_str()));
                nouns.extend(noun);
            }
        };
        collapse(&mut tokens, &["\"", "if", "f\""], OPERANDS, Some("an expression"));
        collapse(&mut tokens, &["where", "dedup", "final"], STAGES, Some("an operator (`where`, `select`, `aggregate`, ..)"));
        collapse(&mut tokens, &["==", "+"], OPERATORS, None);
        collapse(&mut tokens, &["list", "map"], &["list", "map", "{", "`"], Some("a type"));
        for reserved in
            ["and", "or", "not", "in", "is", "like", "matches", "between", "null", "true", "false", "if", "then", "else"]
        {
            if tokens.contains("`") && tokens.len() > 3 {
                tokens.remove(reserved);
            }
        }
        collapse(&mut tokens, &["`"], &["`", "_"], Some("a name"));
        if tokens.contains("=") {
            tokens.remove(":=");
            // `=` is taken for `:` by mistake only.
            if tokens.contains(":") {
                tokens.remove("=");
            }
        }
        if nouns.is_empty() && tokens.is_empty() {
            nouns.extend(failure.rules.iter().filter_map(|rule| nouns::noun(*rule)));
        }
        Expected { tokens, nouns }
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

/// What ends where a piece of this kind ends.
pub(super) fn end_of(rule: Rule) -> &'static str {
    match rule {
        Rule::column_only | Rule::option_only | Rule::setting_only | Rule::select_item_only => "the end of the entry",
        Rule::stage_only => "the end of the operator",
        _ => "the end of the item",
    }
}
