//! The commonest mistakes, recognised by the tokens around the place where parsing failed.

use millstream_grammar::Rule;
use millstream_grammar::split::ITEM_WORDS;
use millstream_grammar::tokens::{Token, TokenKind};
use millstream_runtime::graph::signature::scalar;

use super::build::Builder;
use super::duration;
use super::errors;
use super::expected::STAGES;
use super::recover::{Trouble, found, place};
use crate::diagnostics::{Diagnostic, did_you_mean};
use crate::source::Span;

/// A message for a mistake that is known; None: say what was expected.
pub(super) fn find(builder: &Builder<'_>, trouble: &Trouble<'_>) -> Option<Diagnostic> {
    let span = place(builder, trouble, 0);
    if trouble.rule == Rule::stage_only
        && trouble.at <= 1
        && let Some(diagnostic) = unknown_stage(builder, trouble)
    {
        return Some(diagnostic);
    }
    misspelled(builder, trouble, span)
        .or_else(|| structure(builder, trouble, span))
        .or_else(|| expression(builder, trouble, span))
}

/// A word that is nearly one of those that could have stood there.
fn misspelled(builder: &Builder<'_>, trouble: &Trouble<'_>, span: Span) -> Option<Diagnostic> {
    let word = trouble.word(0);
    if trouble.kind(0) != Some(TokenKind::Word) || word.len() < 3 {
        return None;
    }
    let is_word = |token: &&str| token.len() >= 3 && token.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let near = did_you_mean(word, trouble.words.iter().map(String::as_str).filter(is_word))?;
    let diagnostic = errors::unexpected(span, &found(builder, trouble), &trouble.expected.text());
    Some(diagnostic.with_help(format!("did you mean `{near}`?")).with_fix(format!("write `{near}`"), span, near, false))
}

/// Habits from other languages, within expressions.
fn expression(builder: &Builder<'_>, trouble: &Trouble<'_>, span: Span) -> Option<Diagnostic> {
    let expected = trouble.expected;
    let help = |help: &str| Some(errors::unexpected(span, &found(builder, trouble), &expected.text()).with_help(help));
    if trouble.kind(-1) == Some(TokenKind::Number)
        && let Some(meant) = duration::meant(trouble.word(-1), trouble.word(0))
    {
        let span = place(builder, trouble, -1).to(span);
        let title = format!("`{} {}`", trouble.word(-1), trouble.word(0));
        return Some(meant.on(errors::unexpected(span, &title, "a duration"), span));
    }
    match (trouble.word(-1), trouble.word(0)) {
        (_, "?") => help("write `if condition then a else b`"),
        (_, "::") => help("convert with `cast(x, int64)`"),
        ("case", "when") => {
            let span = place(builder, trouble, -1).to(span);
            Some(
                errors::unexpected(span, "`case when`", "an expression")
                    .with_help("write `if condition then a else b`, or `match x { 1 => a, _ => b }`"),
            )
        }
        (operand, "as") if let Some(ty) = type_meant(trouble.word(1)) => {
            let plain = trouble.kind(-1) == Some(TokenKind::Word) && !matches!(trouble.word(-2), "." | "?.");
            let operand = if plain { operand } else { "x" };
            let diagnostic = errors::unexpected(span.to(place(builder, trouble, 1)), &format!("`as {}`", trouble.word(1)), "");
            Some(diagnostic.with_help(format!("convert with `cast({operand}, {ty})`")))
        }
        (_, "^") => help("there is no operator `^`; use `power(x, y)`"),
        (_, "{") if expected.has("then") => help("write `if condition then a else b`"),
        ("not", "null") => help("write `x is not null`"),
        _ if expected.has("null") && matches!(trouble.word(-1), "is" | "not") => {
            help("`is` only asks for null: `x is null`, `x is not null`; compare values with `==` and `!=`")
        }
        (word @ ("is" | "in" | "like" | "matches" | "between"), _) if !ends_operand(trouble, -2) => {
            Some(errors::reserved_name(place(builder, trouble, -1), word))
        }
        _ if expected.has("then") && expected.tokens.len() <= 2 => help("write `if condition then a else b`"),
        _ if expected.has("else") && expected.tokens.len() <= 2 => {
            help("every `if` has an `else`: write `if condition then a else b`")
        }
        (_, "and" | "or" | "then" | "else")
            if trouble.kind(0) == Some(TokenKind::Word) && expected.nouns.contains("an expression") =>
        {
            Some(
                errors::unexpected(span, &found(builder, trouble), "an expression")
                    .with_help("an operand is missing before this word"),
            )
        }
        _ => None,
    }
}

/// The type behind `as`, as in Rust and in SQL.
pub(super) fn type_meant(word: &str) -> Option<&str> {
    if scalar(word).is_some() {
        return Some(word);
    }
    Some(match word {
        "int" | "integer" | "bigint" | "long" | "i64" => "int64",
        "float" | "double" | "f64" => "float64",
        "text" | "varchar" => "string",
        "boolean" => "bool",
        "decimal" => "decimal(10, 2)",
        _ => return None,
    })
}

/// Whether a token is the end of an operand.
fn ends_operand(trouble: &Trouble<'_>, offset: isize) -> bool {
    match trouble.kind(offset) {
        None | Some(TokenKind::Symbol | TokenKind::Open) => false,
        Some(TokenKind::Word) => {
            !matches!(trouble.word(offset), "where" | "and" | "or" | "not" | "if" | "then" | "else" | "in" | "between")
        }
        Some(_) => true,
    }
}

/// Mistakes in the structure of items.
fn structure(builder: &Builder<'_>, trouble: &Trouble<'_>, span: Span) -> Option<Diagnostic> {
    let expected = trouble.expected;
    let generic = || errors::unexpected(span, &found(builder, trouble), &expected.text());
    if trouble.rule == Rule::column_only {
        let first = builder.at(0, trouble.tokens.first().map_or(0, |token| token.range.end));
        let help = match (trouble.nth(0), trouble.nth(1)) {
            ("not", "null") => Some("columns are never null unless their type ends in `?`: remove `not null`"),
            ("null", second) if second != ":" => Some("a column that may be null has a type that ends in `?`: `int32?`"),
            ("=", _) | ("default", _) => Some("columns have no defaults; write `column ?? value` in a `select`"),
            ("primary", "key") => {
                Some("keys are given where they are used: `source .. key (id)`, `aggregate by id`, `dedup by id`")
            }
            _ => None,
        };
        if let Some(help) = help {
            return Some(errors::unexpected(first, &format!("`{}`", trouble.nth(0)), "").with_help(help));
        }
    }
    match (trouble.rule, trouble.word(0)) {
        (Rule::stage_only, ",") if trouble.nth(0) == "where" => {
            Some(generic().with_help("join conditions with `and`").with_fix("write `and`", span, " and", false))
        }
        (Rule::stage_only, _) if trouble.nth(0) == "aggregate" && expected.has("{") => {
            let diagnostic = errors::unexpected(span, &found(builder, trouble), "`{`");
            let help = "write the columns of the result in braces: `aggregate by carrier { carrier, flights: count() }`";
            Some(diagnostic.with_help(help))
        }
        (Rule::stage_only, _)
            if trouble.nth(0) == "explode" && !trouble.tokens.iter().any(|token| token.text(trouble.text) == "as") =>
        {
            let diagnostic = errors::unexpected(span, &found(builder, trouble), "`as`");
            Some(
                diagnostic
                    .with_help("write `explode list as name`: each value of the list becomes a row with a column of that name"),
            )
        }
        (Rule::stream_item, _) if trouble.word(0) == "into" || trouble.word(-1) == "into" => {
            let span = place(builder, trouble, if trouble.word(0) == "into" { 0 } else { -1 });
            let diagnostic = errors::unexpected(span, "`into`", "");
            Some(diagnostic.with_help("a stream only has a name; write a sink: `sink NAME into file { .. }`"))
        }
        (Rule::fn_item, "{") => Some(generic().with_help("a function is one expression: `fn double(x: int64) = x * 2`")),
        (Rule::source_item, "from") if expected.has(":") => {
            Some(generic().with_help("name the record that the rows have: `source flights: Flight from file { .. }`"))
        }
        (Rule::param_item, _) if trouble.word(-1) == "=" && expected.nouns.contains("a type") => {
            Some(generic().with_help("a param has a type: `param since: timestamp = @2026-01-01`"))
        }
        (Rule::column_only | Rule::option_only | Rule::setting_only | Rule::param_item, _)
            if expected.has(":")
                && trouble.at == 1
                && matches!(trouble.kind(0), Some(TokenKind::Word | TokenKind::String | TokenKind::Number)) =>
        {
            let before = place(builder, trouble, -1);
            let at = Span::new(before.file, before.end as usize, before.end as usize);
            Some(generic().with_help("write `name: value`").with_fix("add `:`", at, ":", true))
        }
        _ => None,
    }
}

/// An operator that does not exist, perhaps known elsewhere by that name.
fn unknown_stage(builder: &Builder<'_>, trouble: &Trouble<'_>) -> Option<Diagnostic> {
    let first = trouble.tokens.first()?;
    let word = trouble.nth(0);
    if first.kind != TokenKind::Word || STAGES.contains(&word) {
        return None;
    }
    let span = builder.at(first.range.start, first.range.end);
    let diagnostic = errors::unknown_stage(span, word);
    let (help, meant) = match word.to_lowercase().as_str() {
        "filter" | "having" | "if" | "when" => ("rows are kept with `where condition`".to_string(), Some("where")),
        "map" | "project" | "with" | "derive" | "extend" | "flat_map" | "flatmap" => {
            ("columns are made with `select { .., total: price * quantity }`; lists become rows with `explode`".to_string(), None)
        }
        "group" | "groupby" | "group_by" | "count" | "sum" | "reduce" | "fold" | "summarize" => {
            ("rows are grouped with `aggregate by key { key, rows: count() }`".to_string(), None)
        }
        "window" | "tumbling" | "sliding" | "session" => {
            ("windows belong to an aggregate: `aggregate by key over tumbling(1h) { .. }`".to_string(), None)
        }
        "order" | "limit" | "take" | "head" => {
            ("the first rows in some order: `top 10 by price desc`; all in order of time: `sort by t`".to_string(), None)
        }
        "unique" => {
            ("equal rows count once with `distinct`; rows are told apart by key with `dedup by (a, b)`".to_string(), None)
        }
        "minus" => ("the rows that another stream has not: `except other`".to_string(), Some("except")),
        "from" => ("a pipeline begins with the name of its input".to_string(), None),
        "into" | "to" | "write" | "sink" => ("write a sink: `sink NAME into file { .. }`".to_string(), None),
        "key_by" | "keyby" | "key" => {
            ("keys are given where they are used: `aggregate by key`, `dedup by key`, `partition by key`".to_string(), None)
        }
        _ => match did_you_mean(word, STAGES.iter().copied()) {
            Some(near) => (format!("did you mean `{near}`?"), Some(near)),
            None => (
                "operators are `where`, `select`, `explode`, `union`, `intersect`, `except`, `distinct`, `watermark`, `dedup`, \
                 `top`, `sort`, `aggregate`, `join`, `final` and `changes`"
                    .to_string(),
                None,
            ),
        },
    };
    let diagnostic = diagnostic.with_help(help);
    Some(match meant {
        Some(meant) => diagnostic.with_fix(format!("write `{meant}`"), span, meant, false),
        None => diagnostic,
    })
}

/// Something at the top level that begins with no item's word.
pub(super) fn unknown_item(text: &str, span: Span, tokens: &[&Token]) -> Diagnostic {
    let word = tokens.first().map_or("", |token| token.text(text));
    let shown: String = word.chars().take(30).collect();
    let diagnostic = errors::unknown_item(span, &format!("`{shown}`"));
    let (help, meant): (&str, Option<&str>) = match word.to_lowercase().as_str() {
        "select" | "with" | "insert" => ("write a stream: `stream name = input | where .. | select { .. }`", None),
        "create" => ("write `record Name { .. }` for the columns and `source name: Name from file { .. }` for the rows", None),
        "import" | "include" | "mod" => ("write `use \"other.flow\"`", Some("use")),
        "struct" | "type" | "class" | "schema" | "table" => ("write `record Name { column: type }`", Some("record")),
        "def" | "func" | "function" | "udf" => ("write `fn name(x: int64) = x + 1`", Some("fn")),
        "let" | "var" | "view" | "const" => {
            ("write `stream name = ..` for a pipeline, `param name: type = value` for a value", None)
        }
        "output" | "target" => ("write `sink name into file { .. }`", Some("sink")),
        "input" => ("write `source name: Record from file { .. }`", Some("source")),
        "pipeline" | "main" => ("write `job name { .. }` for the settings of the whole file", Some("job")),
        _ => ("", None),
    };
    if !help.is_empty() {
        let diagnostic = diagnostic.with_help(help);
        return match meant {
            Some(meant) => diagnostic.with_fix(format!("write `{meant}`"), span, meant, false),
            None => diagnostic,
        };
    }
    match did_you_mean(word, ITEM_WORDS.iter().copied()) {
        Some(near) => {
            diagnostic.with_help(format!("did you mean `{near}`?")).with_fix(format!("write `{near}`"), span, near, false)
        }
        None => diagnostic,
    }
}
