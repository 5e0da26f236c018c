//! Names of chains, taken from the text and fit for Rust modules.

use std::collections::HashSet;

use super::job::JobVertex;

/// Words that Rust keeps for itself, all editions.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut",
    "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "union", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Hands out names that differ from each other.
#[derive(Debug, Default)]
pub(super) struct ChainNames {
    taken: HashSet<String>,
}

impl ChainNames {
    /// A name for the chain with this head: its stream's name, then with `_2`, `_3`, ...
    pub(super) fn name(&mut self, head: &JobVertex) -> String {
        let base = snake_case(stream_name(&head.name));
        let mut name = base.clone();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        name
    }
}

/// `delays` of `delays: aggregate` and of `delays into file`.
fn stream_name(vertex: &str) -> &str {
    let end = [": ", " into "].iter().filter_map(|end| vertex.find(end)).min().unwrap_or(vertex.len());
    &vertex[..end]
}

/// An ASCII snake_case identifier; module files with other letters are not portable.
fn snake_case(name: &str) -> String {
    let mut out = String::new();
    let mut after_lower = false;
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            if c.is_ascii_uppercase() && after_lower {
                out.push('_');
            }
            after_lower = !c.is_ascii_uppercase();
            out.push(c.to_ascii_lowercase());
        } else {
            if !out.is_empty() && !out.ends_with('_') {
                out.push('_');
            }
            after_lower = false;
        }
    }
    let out = out.trim_matches('_');
    if out.is_empty() {
        "chain".to_owned()
    } else if out.starts_with(|c: char| c.is_ascii_digit()) || KEYWORDS.contains(&out) {
        format!("chain_{out}")
    } else {
        out.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ascii_snake_case() {
        for (vertex, expected) in [
            ("delays: aggregate", "delays"),
            ("perMinute into file", "per_minute"),
            ("größe: where", "gr_e"),
            ("数: where", "chain"),
            ("type: select", "chain_type"),
            ("__a__b__", "a_b"),
            ("2nd: select", "chain_2nd"),
            ("HTTPLog", "httplog"),
        ] {
            assert_eq!(snake_case(stream_name(vertex)), expected, "{vertex}");
        }
    }
}
