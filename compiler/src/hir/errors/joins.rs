//! E052x: joins.

use millstream_runtime::graph::JoinKind;

use crate::diagnostics::Diagnostic;
use crate::hir::flow::Hidden;
use crate::source::Span;
use crate::syntax::ast::Name;

/// A join that does not say what is equal.
pub fn no_equality(
    words: &str,
    span: Span,
    condition: Option<Span>,
    left: Option<&str>,
    right: Option<&str>,
    alias: &str,
) -> Diagnostic {
    let title = format!("`{words}` needs columns that are equal on both sides");
    let example = format!("{} == {alias}.{}", left.unwrap_or("id"), right.unwrap_or("id"));
    match condition {
        None => Diagnostic::error("E0520", title, span, "which rows belong together?").with_help(format!("write `on {example}`")),
        Some(condition) => Diagnostic::error("E0520", title, condition, "no part of this is `left == right`")
            .with_help(format!("add an equality to it: `on {example} and ..`; rows are brought together by it")),
    }
}

/// Two columns of one name in a row that needs names.
pub fn two_of_a_name(span: Span, hidden: &Hidden) -> Diagnostic {
    let name = hidden.twin.as_deref().unwrap_or(&hidden.column);
    let title = format!("the joined rows have two columns `{name}`");
    Diagnostic::error("E0521", title, span, format!("`{name}` and `{}` cannot both be called `{name}`", hidden.column))
        .with_help(format!("say which you want, and what to call it: `| select {{ {name}, other: {}, .. }}`", hidden.column))
}

/// An alias that is a column's name.
pub fn alias_is_a_column(alias: &Name) -> Diagnostic {
    let title = format!("`{}` is a column here", alias.text);
    Diagnostic::error("E0522", title, alias.span, format!("`{}.x` would be a field of that column", alias.text))
        .with_help("choose another name behind `as`")
}

/// Two sides of one name.
pub fn alias_taken(alias: &Name, explicit: bool) -> Diagnostic {
    let title = format!("two sides of this join are called `{}`", alias.text);
    let help = match explicit {
        true => "choose another name behind `as`".to_owned(),
        false => format!("name one of them: `join {} as other on ..`", alias.text),
    };
    Diagnostic::error("E0522", title, alias.span, "the second of this name").with_help(help)
}

/// Clauses that exclude each other.
pub fn one_bound(span: Span, what: &str, first: Span, first_what: &str) -> Diagnostic {
    Diagnostic::error("E0523", format!("`{what}` does not go with `{first_what}`"), span, "a join is bounded in one way")
        .with_label(first, "bounded here")
        .with_help(format!("remove `{what}` or `{first_what}`"))
}

/// A kind of join that a bound does not have.
pub fn kind_does_not_fit(span: Span, words: &str, what: &str, kinds: &str, why: &str) -> Diagnostic {
    Diagnostic::error("E0524", format!("`{words}` has no `{what}`"), span, why.to_owned()).with_help(format!("use {kinds}"))
}

/// `broadcast` where no task would know which rows of the joined side have no partner.
pub fn broadcast_keeps_right(span: Span, kind: JoinKind, right: &str) -> Diagnostic {
    let words = kind.words();
    let label =
        format!("each task sees some of the rows before `{words}`, so none knows which rows of `{right}` have no partner");
    let instead = match kind {
        JoinKind::Right => "start with the other side and write `left join`, or take `broadcast` away",
        _ => "take `broadcast` away: both sides then come by key",
    };
    Diagnostic::error("E0536", format!("`{words}` has no `broadcast`"), span, label).with_help(instead)
}

/// `broadcast` to rows that are taken back.
pub fn broadcast_to_a_table(span: Span, left: &str) -> Diagnostic {
    let label = format!("rows of `{left}` are taken back, and must meet themselves again, which they do only by key");
    Diagnostic::error("E0536", "`broadcast` needs a stream before `join`", span, label)
        .with_help("take `broadcast` away, or join before the operator that makes the table")
}

/// `broadcast` of what every task has.
pub fn broadcast_of_a_lookup(span: Span, lookup: &str) -> Diagnostic {
    Diagnostic::error("E0536", "a lookup has no `broadcast`", span, format!("every task looks rows up in `{lookup}` by itself"))
        .with_help("take `broadcast` away")
}

/// A joined side that has no event time.
pub fn side_without_time(span: Span, what: &str, stream: &str, candidates: &[&str]) -> Diagnostic {
    let column = candidates.first().copied().unwrap_or("column");
    Diagnostic::error(
        "E0401",
        format!("`{what}` needs event time, and `{stream}` has none"),
        span,
        "no column says when its rows happened",
    )
    .with_help(format!("say when: `watermark {column} - 5s` at its source, or `| watermark {column} - 5s` in its pipeline"))
}

/// `within` whose end comes before its start.
pub fn empty_range(span: Span, from: &str, to: &str) -> Diagnostic {
    Diagnostic::error("E0525", "no two rows lie so far apart", span, format!("{from} comes after {to}"))
        .with_help("write the earlier bound first: `within -5m..10m` (the joined row's time less the other's)")
}

/// `as of` something that is not the stream's event time.
pub fn not_the_event_time(span: Span, column: &str) -> Diagnostic {
    Diagnostic::error(
        "E0526",
        "`as of` takes the event time of the rows",
        span,
        "rows wait for the other side by their event time",
    )
    .with_help(format!("write `as of {column}`"))
}

/// `as of` whose equalities are not the key of the versioned table.
pub fn not_by_key(span: Span, table: &str, key: &[&str]) -> Diagnostic {
    let title = format!("`as of` looks rows of `{table}` up by their key");
    Diagnostic::error("E0527", title, span, format!("the key of `{table}` is {}", super::listed(key)))
        .with_help("say in `on` what each column of the key equals, and nothing that is not in the key")
}

/// A time window that joins do not have.
pub fn window_kind(span: Span, kind: &str) -> Diagnostic {
    Diagnostic::error("E0528", format!("a join has no `{kind}` windows"), span, "both sides must have the same windows")
        .with_help("use `over tumbling(size)` or `over sliding(size, step)`")
}

/// A lookup where rows should come from.
pub fn lookup_is_no_stream(name: &Name) -> Diagnostic {
    let title = format!("`{}` is a lookup: rows do not come from it, they are looked up in it", name.text);
    Diagnostic::error("E0530", title, name.span, "only `join` takes a lookup")
        .with_help(format!("start with a stream: `orders | join {} on ..`, or make it a `source`", name.text))
}

/// `on` that does not say what the key of a lookup is.
pub fn lookup_key(span: Span, lookup: &str, alias: &str, key: &[String]) -> Diagnostic {
    let columns: Vec<&str> = key.iter().map(String::as_str).collect();
    let title = format!("rows of `{lookup}` are looked up by their key");
    let example: Vec<String> = key.iter().map(|column| format!("{column} == {alias}.{column}")).collect();
    Diagnostic::error("E0531", title, span, format!("the key of `{lookup}` is {}", super::listed(&columns)))
        .with_help(format!("say what each column of the key equals: `on {}`", example.join(" and ")))
}

/// A clause about time at a lookup.
pub fn lookup_has_no_time(span: Span, what: &str, lookup: &str) -> Diagnostic {
    let title = format!("`{what}` does not go with a lookup");
    Diagnostic::error("E0532", title, span, format!("rows are looked up in `{lookup}` as it is at that moment"))
        .with_help("leave it out; for the row as it was then, read the table as a `source` with a watermark, and join `as of`")
}

/// A lookup that does not say by what.
pub fn lookup_without_key(span: Span, lookup: &str, column: &str) -> Diagnostic {
    Diagnostic::error("E0533", format!("`{lookup}` does not say by what rows are looked up"), span, "`key` is missing")
        .with_help(format!("add the columns to its end: `key ({column})`"))
}

/// An address that does not name the columns of the key.
pub fn url_without_key(span: Span, missing: Option<&str>, unknown: Option<&str>, key: &[String]) -> Diagnostic {
    let columns: Vec<&str> = key.iter().map(String::as_str).collect();
    let label = match (missing, unknown) {
        (Some(missing), _) => format!("`{{{missing}}}` is missing"),
        (None, unknown) => format!("`{{{}}}` is no column of the key", unknown.unwrap_or_default()),
    };
    Diagnostic::error("E0534", "the address must name the key, and nothing else", span, label)
        .with_help(format!("write each column of the key in braces: {}", super::listed(&columns)))
}

/// A connector that knows no lookups.
pub fn no_lookup(name: &Name, candidates: &[&str]) -> Diagnostic {
    let title = format!("rows cannot be looked up with `{}`", name.text);
    Diagnostic::error("E0535", title, name.span, "it only reads from one end to the other, or writes")
        .with_help(format!("connectors for a lookup: {}; or make it a `source` and join that", super::listed(candidates)))
}
