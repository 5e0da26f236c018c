//! What can be wrong with text: one constructor per mistake.
//!
//! The title says what is wrong, the label why here, the help what to type. Codes E01xx; each has a page.

use crate::diagnostics::Diagnostic;
use crate::source::Span;

/// The closing bracket of an opening one.
pub(super) fn partner(bracket: char) -> char {
    match bracket {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

/// Something stands where something else should.
pub(super) fn unexpected(span: Span, found: &str, expected: &str) -> Diagnostic {
    let title =
        if expected.is_empty() { format!("did not expect {found} here") } else { format!("expected {expected}, found {found}") };
    let label = if expected.is_empty() { "this does not belong here".to_string() } else { format!("expected {expected}") };
    Diagnostic::error("E0101", title, span, label)
}

/// Something wrong within `f".."`.
pub(super) fn in_format_string(span: Span, found: char, expected: &str) -> Diagnostic {
    unexpected(span, &format!("`{found}`"), expected)
        .with_help("in f\"..\", each `{` opens a value and `}` closes it, as in f\"{carrier}-{day}\"; write `{{` and `}}` for the braces themselves")
}

/// An item's word is missing or unknown.
pub(super) fn unknown_item(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error("E0102", format!("{found} does not begin an item"), span, "not the beginning of an item")
        .with_help("items begin with `job`, `use`, `param`, `record`, `fn`, `source`, `stream` or `sink`")
}

/// A string without its closing quote.
pub(super) fn unclosed_string(span: Span, end: usize) -> Diagnostic {
    let at = Span::new(span.file, end, end);
    let own = Span::new(span.file, span.start as usize, end.max(span.start as usize + 1));
    Diagnostic::error("E0103", "this string is not closed", own, "no closing `\"` on this line")
        .with_help("strings end on the line they begin on; write `\\n` for a line break inside one")
        .with_fix("close the string", at, "\"", false)
}

/// A name in backticks without its closing backtick.
pub(super) fn unclosed_backtick(span: Span) -> Diagnostic {
    let at = Span::new(span.file, span.end as usize, span.end as usize);
    Diagnostic::error("E0103", "this name in backticks is empty or not closed", span, "no name between two backticks")
        .with_help("write the name between two backticks: `` `order` ``")
        .with_fix("close the name", at, "`", false)
}

/// An opening bracket without its closing one.
pub(super) fn unclosed_bracket(span: Span, bracket: char, noticed: Span) -> Diagnostic {
    let closing = partner(bracket);
    let at = Span::new(span.file, noticed.start as usize, noticed.start as usize);
    Diagnostic::error("E0104", format!("this `{bracket}` is never closed"), span, "opened here")
        .with_label(noticed, format!("`{closing}` is missing before here"))
        .with_help(format!("add the missing `{closing}`"))
        .with_fix(format!("add `{closing}`"), at, closing.to_string(), false)
}

/// A closing bracket without its opening one.
pub(super) fn stray_bracket(span: Span, bracket: char) -> Diagnostic {
    Diagnostic::error("E0104", format!("this `{bracket}` closes nothing"), span, "no open bracket to close")
        .with_help(format!("remove the `{bracket}`, or add the bracket that it closes"))
        .with_fix(format!("remove `{bracket}`"), span, "", false)
}

/// Brackets, `if`s or signs nested too deep.
pub(super) fn too_deep(span: Span, limit: usize) -> Diagnostic {
    Diagnostic::error("E0105", "this is nested too deep", span, format!("more than {limit} levels deep here"))
        .with_help("give parts of it names: compute them as columns in a `select` before this one, or in an `fn`")
}

/// Too many operators or fields in a row.
pub(super) fn too_long(span: Span, at: Span, limit: usize) -> Diagnostic {
    Diagnostic::error("E0105", "this expression is too long", at, format!("more than {limit} operators build on each other here"))
        .with_note(format!("the whole expression is {} bytes long; chains of `and` and of `or` may be of any length", span.end - span.start))
        .with_help("group parts of it in parentheses, `(a + b + ..) + (c + d + ..)`, or compute them as columns in a `select` before this one")
}

/// A `match` with very many ranges and conditions.
pub(super) fn too_many_conditions(span: Span, limit: usize) -> Diagnostic {
    Diagnostic::error("E0105", "this `match` is too long", span, format!("more than {limit} arms with ranges or conditions"))
        .with_help(
            "join rows with a `lookup` of the ranges, or split it: `_ => match x { .. }`; arms of plain values may be any number",
        )
}

/// A file beyond what offsets can name.
pub(super) fn file_too_long(span: Span) -> Diagnostic {
    Diagnostic::error("E0105", "this file is too long", span, "more than 4 GiB")
}

/// A number, duration, size, timestamp that is none.
pub(super) fn bad_literal(span: Span, why: impl Into<String>, help: &str) -> Diagnostic {
    Diagnostic::error("E0106", why, span, "this value cannot be read").with_help(help)
}

/// `\q`
pub(super) fn bad_escape(span: Span, escape: &str) -> Diagnostic {
    Diagnostic::error("E0106", format!("`{escape}` is not an escape"), span, "unknown escape")
        .with_help("escapes are `\\n`, `\\t`, `\\r`, `\\0`, `\\\\`, `\\\"` and `\\u{1f600}`; in a raw string, r\"..\", a backslash is just a backslash")
}

/// `name = value` where `name: value` is meant.
pub(super) fn equals_for_colon(span: Span) -> Diagnostic {
    Diagnostic::error("E0107", "`:` belongs between a name and what it stands for", span, "write `:` here")
        .with_help("names in braces and in calls are followed by `:`, as in `total: price * quantity`")
        .with_fix("write `:`", span, ":", true)
}

/// `stream x: ..` where `stream x = ..` is meant.
pub(super) fn colon_for_equals(span: Span) -> Diagnostic {
    Diagnostic::error("E0107", "`=` belongs between a stream's name and its pipeline", span, "write `=` here")
        .with_help("write `stream name = input | ..`")
        .with_fix("write `=`", span, "=", true)
}

/// `history: file { .. }` where `history = file { .. }` is meant.
pub(super) fn colon_in_stage(span: Span) -> Diagnostic {
    Diagnostic::error("E0107", "`=` belongs between a stage's name and its connector", span, "write `=` here")
        .with_help("write `history = file { .. }`")
        .with_fix("write `=`", span, "=", true)
}

/// `fn f(x: int64) -> int64`
pub(super) fn arrow_for_colon(span: Span) -> Diagnostic {
    Diagnostic::error("E0107", "`:` belongs before the type that a function returns", span, "write `:` here")
        .with_help("write `fn name(x: int64): int64 = ..`")
        .with_fix("write `:`", span, ":", true)
}

/// `record A = { .. }`
pub(super) fn equals_before_block(span: Span) -> Diagnostic {
    Diagnostic::error("E0107", "no `=` belongs between a record's name and its columns", span, "remove this")
        .with_help("write `record Name { .. }`")
        .with_fix("remove `=`", span, "", true)
}

/// `&&`, `||`, `!`, `=`, `<>`, `===`
pub(super) fn wrong_operator(span: Span, found: &str, meant: &str) -> Diagnostic {
    let word = meant.trim_end();
    let why = match word {
        "==" => "two values are compared with `==`".to_string(),
        "!=" => "two values are told apart with `!=`".to_string(),
        ">=" | "<=" => "the sign of equality stands behind the other one".to_string(),
        word => format!("`{word}` is written as a word"),
    };
    Diagnostic::error("E0108", format!("`{found}` is not an operator"), span, format!("write `{word}` here"))
        .with_help(why)
        .with_fix(format!("write `{word}`"), span, meant, true)
}

/// `->` in an arm.
pub(super) fn thin_arrow(span: Span) -> Diagnostic {
    Diagnostic::error("E0108", "`=>` belongs between a value and its result", span, "write `=>` here")
        .with_help("write `match x { \"a\" => 1, _ => 0 }`")
        .with_fix("write `=>`", span, "=>", true)
}

/// `'text'`
pub(super) fn single_quotes(span: Span, text: &str) -> Diagnostic {
    let inner = text.trim_matches('\'').replace('\\', "\\\\").replace('"', "\\\"");
    let meant = format!("\"{inner}\"");
    Diagnostic::error("E0109", "strings are written in double quotes", span, "single quotes do not make a string")
        .with_help(format!("write `{meant}`"))
        .with_fix("use double quotes", span, meant, true)
}

/// A single quote without its partner.
pub(super) fn lone_single_quote(span: Span) -> Diagnostic {
    Diagnostic::error("E0109", "strings are written in double quotes", span, "single quotes do not make a string")
        .with_help("write the string between two double quotes: \"text\"")
}

/// A reserved word as a name.
pub(super) fn reserved_name(span: Span, word: &str) -> Diagnostic {
    Diagnostic::error("E0110", format!("`{word}` is a word of the language and cannot be a bare name"), span, "not a name")
        .with_help(format!("choose another name, or write it in backticks: `` `{word}` ``"))
        .with_fix("write it in backticks", span, format!("`{word}`"), true)
}

/// Two entries without a comma between them.
pub(super) fn missing_comma(at: Span, next: Span) -> Diagnostic {
    Diagnostic::error("E0111", "a comma is missing", at, "add `,` here")
        .with_label(next, "the next entry begins here")
        .with_help("columns of a block are separated by commas")
        .with_fix("add `,`", at, ",", true)
}

/// An operator without `|` before it.
pub(super) fn missing_pipe(at: Span) -> Diagnostic {
    Diagnostic::error("E0112", "a `|` is missing before this operator", at, "add `|` here")
        .with_help("every operator of a pipeline stands behind a `|`")
        .with_fix("add `| `", at, "| ", true)
}

/// An operator that the language does not have.
pub(super) fn unknown_stage(span: Span, word: &str) -> Diagnostic {
    Diagnostic::error("E0113", format!("there is no operator `{word}`"), span, "not an operator")
}

/// `select a, b`
pub(super) fn bare_select(span: Span, text: &str) -> Diagnostic {
    Diagnostic::error("E0114", "the columns of `select` stand in braces", span, "these belong in `{ .. }`")
        .with_help(format!("write `select {{ {} }}`", text.split_whitespace().collect::<Vec<_>>().join(" ")))
        .with_fix("add braces", span, format!("{{ {text} }}"), true)
}

/// `key currency`
pub(super) fn bare_key(span: Span, text: &str) -> Diagnostic {
    Diagnostic::error("E0114", "the columns of `key` stand in parentheses", span, "these belong in `( .. )`")
        .with_help(format!("write `key ({})`", text.split_whitespace().collect::<Vec<_>>().join(" ")))
        .with_fix("add parentheses", span, format!("({text})"), true)
}

/// `price as total`
pub(super) fn alias(span: Span, replacement: String) -> Diagnostic {
    Diagnostic::error("E0114", "a column's name stands before its value", span, "`as` does not name columns")
        .with_help(format!("write `{replacement}`"))
        .with_fix("name it with `:`", span, replacement, true)
}

/// `price as float64`, which may be a name in SQL.
pub(super) fn as_type(span: Span, value: &str, ty: &str) -> Diagnostic {
    Diagnostic::error("E0114", "`as` neither names nor converts", span, "not known here")
        .with_help(format!("to convert, write `name: cast({value}, {ty})`; to name a column, `name: {value}`"))
}

/// `count(*)`
pub(super) fn star(span: Span) -> Diagnostic {
    Diagnostic::error("E0114", "`*` is not an argument", span, "remove this")
        .with_help("`count()` counts rows; `count(x)` counts the rows in which `x` is not null")
        .with_fix("remove `*`", span, "", true)
}

/// `x in (1, 2)`
pub(super) fn list_in_parens(span: Span, text: &str) -> Diagnostic {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    Diagnostic::error("E0114", "lists are written in square brackets", span, "parentheses hold one expression")
        .with_help(format!("write `[{}]`", inner.split_whitespace().collect::<Vec<_>>().join(" ")))
        .with_fix("use square brackets", span, format!("[{inner}]"), true)
}

/// `stream a = from b`
pub(super) fn needless_from(span: Span) -> Diagnostic {
    Diagnostic::error("E0114", "a pipeline begins with the name of its input", span, "remove this word")
        .with_help("write `stream name = input | where .. | select { .. }`")
        .with_fix("remove `from`", span, "", true)
}

/// `;` at the end of an item or operator.
pub(super) fn semicolon(span: Span) -> Diagnostic {
    Diagnostic::error("E0115", "no semicolon belongs here", span, "remove this")
        .with_help("items and operators end by themselves")
        .with_fix("remove `;`", span, "", true)
}

/// A word that stands where only one word, or one of a few, can.
pub(super) fn misspelled_word(span: Span, found: &str, meant: &str) -> Diagnostic {
    Diagnostic::error("E0101", format!("expected `{meant}`, found `{found}`"), span, format!("expected `{meant}`"))
        .with_help(format!("did you mean `{meant}`?"))
        .with_fix(format!("write `{meant}`"), span, meant, false)
}

/// `;` between entries of a block.
pub(super) fn semicolon_for_comma(span: Span) -> Diagnostic {
    Diagnostic::error("E0115", "entries are separated by commas", span, "write `,` here")
        .with_help("write `,` between the entries of a block")
        .with_fix("write `,`", span, ",", true)
}

/// A clause that stands twice.
pub(super) fn repeated(span: Span, what: &str, first: Span) -> Diagnostic {
    Diagnostic::error("E0116", format!("`{what}` stands here twice"), span, "the second one")
        .with_label(first, "the first one")
        .with_help("remove one of the two")
}

/// `/* .. */`
pub(super) fn block_comment(span: Span, text: &str, closed: bool) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0117", "comments begin with `//`", span, "not a comment in Flow");
    let inner = text.trim_start_matches("/*").trim_end_matches("*/").trim();
    match closed && !inner.contains('\n') {
        true => diagnostic.with_help("write `//` before each line of a comment").with_fix(
            "use `//`",
            span,
            format!("// {inner}\n"),
            false,
        ),
        false => diagnostic.with_help("write `//` before each line of a comment"),
    }
}

/// A character that means nothing.
pub(super) fn strange_character(span: Span, text: &str) -> Diagnostic {
    let c = text.chars().next().unwrap_or(' ');
    let shown =
        if c.is_control() { format!("the control character U+{:04X}", c as u32) } else { format!("`{c}` (U+{:04X})", c as u32) };
    let diagnostic = Diagnostic::error("E0118", format!("{shown} means nothing in Flow"), span, "not expected anywhere");
    let meant = match c {
        '“' | '”' | '„' | '«' | '»' => "\"",
        '‘' | '’' | '\'' => "\"",
        '–' | '—' | '−' => "-",
        '×' => "*",
        '÷' => "/",
        '≤' => "<=",
        '≥' => ">=",
        '≠' => "!=",
        '→' => "=>",
        '…' => "..",
        _ => return diagnostic.with_help("remove it, or put it in a string"),
    };
    diagnostic.with_help(format!("write `{meant}`")).with_fix(format!("write `{meant}`"), span, meant, false)
}

/// `a < b < c`
pub(super) fn comparison_chain(span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("E0119", "comparisons cannot be chained", span, "a second comparison of the same operands")
        .with_label(first, "the first one")
        .with_help(
            "write `a < b and b < c`, or `b between a and c`; to compare the outcome of a comparison, put it in parentheses",
        )
}

/// `x between a` without `and`.
pub(super) fn between_without_and(span: Span) -> Diagnostic {
    Diagnostic::error("E0101", "`between` needs two bounds", span, "its second bound is missing")
        .with_help("write `x between low and high`; both bounds are included")
}

/// `_, 1 => ..`
pub(super) fn otherwise_among_values(span: Span) -> Diagnostic {
    Diagnostic::error("E0101", "`_` stands alone in its arm", span, "this matches everything already")
        .with_help("write `_ => ..` as the last arm")
}

/// `dedup by (x: a)`
pub(super) fn named_key(span: Span) -> Diagnostic {
    Diagnostic::error("E0101", "keys have no names here", span, "remove the name")
        .with_help("only the keys of `aggregate` have names: they become columns")
}

/// Something in `over (..)` that does not belong there.
pub(super) fn bad_over(span: Span) -> Diagnostic {
    Diagnostic::error("E0122", "`over (..)` is written wrongly", span, "this is no part of it").with_help(
        "write `over (by key, order by time, last 10 rows)`: each part may be left out; `last 1h` looks at time instead of rows",
    )
}

/// `price over (..)`
pub(super) fn over_behind_no_call(span: Span, over: Span) -> Diagnostic {
    Diagnostic::error("E0122", "`over (..)` stands behind a call", span, "this is no call")
        .with_label(over, "computed over these rows")
        .with_help("write `avg(price) over (..)`, `lag(price) over (..)`, `row_number() over (..)`")
}

/// `over (order by t desc)`
pub(super) fn over_direction(span: Span, word: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0122", "rows of `over (..)` come in the order of time", span, "not needed");
    match word {
        "desc" => diagnostic.with_help("to look at later rows use `lead(..)`; for the last rows first use `top`"),
        _ => diagnostic.with_help("leave it out").with_fix("leave it out", span, "", false),
    }
}

/// `use rust enrich`
pub(super) fn rust_path_unquoted(span: Span) -> Diagnostic {
    unexpected(span, "a name", "the path of a Rust file in quotes").with_help("write `use rust \"enrich.rs\"`")
}

/// `use crate "enrich"`
pub(super) fn crate_quoted(span: Span) -> Diagnostic {
    unexpected(span, "a string", "the name of a crate, without quotes")
        .with_help("write `use crate my_functions`, with `_` for `-`")
}

/// Known, but not in this version.
pub(super) fn later(span: Span, what: &str) -> Diagnostic {
    let verb = if what.contains("` and `") || what.starts_with("early") { "are" } else { "is" };
    Diagnostic::error("E0199", format!("{what} {verb} not available in this version"), span, "not available yet")
        .with_help("see the language reference for what this version has")
}

/// An item of a later edition.
pub(super) fn later_item(span: Span, word: &str) -> Diagnostic {
    later(span, &format!("`{word}`"))
}
