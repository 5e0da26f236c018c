//! E05xx: streams and tables, keys, aggregates.

use millstream_runtime::graph::Ty;

use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::Name;

/// A raw column in an aggregate's block.
pub fn neither_key_nor_aggregate(name: &str, span: Span, has_keys: bool) -> Diagnostic {
    let title = format!("`{name}` is neither a group key nor inside an aggregate");
    let by = if has_keys { "add it to `by`" } else { "group by it: `aggregate by ..`" };
    Diagnostic::error("E0501", title, span, "a group has many rows, so this has many values")
        .with_help(format!("{by}, or say which value: `max({name})`, `last({name})`, `list({name})`"))
}

/// An aggregate function outside of `aggregate`.
pub fn aggregate_outside(name: &Name) -> Diagnostic {
    Diagnostic::error("E0502", format!("`{}` is an aggregate", name.text), name.span, "this place sees one row at a time")
        .with_help(format!("write `| aggregate by key {{ key, {}: {}(..) }}`", name.text, name.text))
}

/// An aggregate in an aggregate.
pub fn nested_aggregate(name: &Name) -> Diagnostic {
    let title = format!("`{}` stands inside another aggregate", name.text);
    Diagnostic::error("E0503", title, name.span, "an aggregate takes values of single rows")
        .with_help("aggregate in two steps: `| aggregate by .. { .. } | aggregate by .. { .. }`")
}

/// `distinct` or `where` in a call that takes none.
pub fn not_an_aggregate(word: &str, span: Span, function: &str) -> Diagnostic {
    Diagnostic::error("E0504", format!("`{word}` goes only with aggregates"), span, format!("`{function}` is not one"))
        .with_help(format!("take `{word}` away"))
}

/// `distinct` without a value.
pub fn distinct_what(span: Span, function: &str) -> Diagnostic {
    Diagnostic::error("E0504", "`distinct` needs a value", span, "distinct in what?")
        .with_help(format!("write `{function}(distinct column)`"))
}

/// An operator that takes streams only.
pub fn not_over_table(what: &str, span: Span, why: &str) -> Diagnostic {
    Diagnostic::error("E0506", format!("{what} does not take a table"), span, why.to_owned())
        .with_help("put `| final` before it (the rows that stand at the end of the input), or `| changes` (each change as a row)")
}

/// `final` or `changes` of a stream.
pub fn not_a_table(what: &str, span: Span, stream: &str) -> Diagnostic {
    Diagnostic::error(
        "E0507",
        format!("`{what}` takes a table"),
        span,
        format!("`{stream}` is a stream: its rows are never taken back"),
    )
    .with_help(format!("take `| {what}` away"))
}

/// A table into a sink that only adds rows. `of`: the struct of a connector of the user's own.
pub fn table_into_append_sink(
    stream: &str,
    connector: &str,
    span: Span,
    cause: Option<(Span, String)>,
    of: Option<&str>,
) -> Diagnostic {
    let title = format!("`{stream}` is a table, and `{connector}` only takes rows that stay");
    let help = "put `| final` before `into` (the rows that stand when the input has ended), or `| changes` (each change as a row with `op`), or give the aggregate a window (`over tumbling(1h)`)";
    let help = match of {
        Some(of) => format!("{help}; or have `{connector}` take tables: `impl TableSinkConnector for {of} {{ .. }}`"),
        None => help.to_owned(),
    };
    let diagnostic = Diagnostic::error("E0508", title, span, "rows that change later cannot be written here").with_help(help);
    match cause {
        Some((cause, why)) => diagnostic.with_label(cause, why),
        None => diagnostic,
    }
}

/// A key of a type that cannot be one.
pub fn not_a_key(what: &str, span: Span, ty: &Ty) -> Diagnostic {
    Diagnostic::error("E0509", format!("{what} cannot be {ty}"), span, "values of this type cannot be keys")
        .with_help("use a part of it, or `cast(.., string)`")
}

/// Streams of different columns in one union.
pub fn union_differs(name: &Name, first: &str, label: String) -> Diagnostic {
    let title = format!("`{}` has other columns than `{first}`", name.text);
    Diagnostic::error("E0510", title, name.span, label)
        .with_help(format!("bring it into the same form first: `{} | select {{ .. }}`", name.text))
}

/// `explode` of something that is no list and no map.
pub fn not_a_list(span: Span, ty: &Ty) -> Diagnostic {
    let help = match ty.required() {
        Ty::String => "split it: `explode split(text, \" \") as word`",
        _ => "use a column that is a list or a map, or a function that gives one",
    };
    Diagnostic::error("E0511", format!("`explode` takes a list or a map, not {ty}"), span, format!("this is {ty}"))
        .with_help(help)
}

/// `..` in an aggregate's block.
pub fn rest_in_aggregate(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0512", format!("`{what}` has no meaning in the block of `aggregate`"), span, "a group has many rows")
        .with_help("name the group keys and aggregates that you want")
}

/// A block without columns.
pub fn no_columns(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0513", format!("`{what}` gives no columns"), span, "nothing is left")
        .with_help("name at least one column")
}

/// How analytic functions are called in messages.
pub const OVER: &str = "over (..)";

/// An operator whose state grows for as long as the job runs.
pub fn grows_for_ever(word: &str, span: Span, what: &str, source: &str) -> Diagnostic {
    let title = format!("the state of `{word}` grows for ever");
    let bound = if word == OVER { "a frame of time (`last 1h`)" } else { "a window, with `within`" };
    Diagnostic::warning("W0501", title, span, format!("it keeps {what}, and `{source}` has no end")).with_help(format!(
        "bound it with {bound}, or with a time after which state is forgotten: `@ttl(1d)` before the operator, `ttl: 1d` in the \
         job; if there are only so many keys, say so with `@ttl(never)`",
    ))
}

/// `@ttl` before something that does not forget by it.
pub fn nothing_to_forget(span: Span) -> Diagnostic {
    Diagnostic::error("E0515", "`@ttl` has no meaning here", span, "nothing behind it is forgotten by this time").with_help(
        "it is for `aggregate` and `top` without a window, `dedup`, `distinct`, `intersect`, `except`, joins without a bound in \
         time, `over (..)` without a frame of time, and `process` with state; take it away",
    )
}

/// Every task would see every row.
pub fn multiplies(span: Span, operator: &str) -> Diagnostic {
    let label = format!("every task of `{operator}` would get every row, and do the same with it");
    Diagnostic::error("E0514", "`broadcast` multiplies the rows", span, label)
        .with_help("take `broadcast` away; `rebalance` deals the rows out to the tasks, each to one of them")
}

/// `broadcast` in the pipeline of the joined side: it is said at the join.
pub fn broadcast_before_join(span: Span, join: &str, said: bool) -> Diagnostic {
    let label = format!("`{join}` behind it decides how its rows travel");
    let help = match said {
        true => "take it away: the join says `broadcast` already".to_owned(),
        false => format!("say it at the join: `| {join} .. on .. broadcast`"),
    };
    Diagnostic::warning("W0502", "`broadcast` has no effect here", span, label).with_help(help)
}

/// How rows should travel to an operator that takes them by key.
pub fn travels_by_key(word: &str, span: Span, operator: &str) -> Diagnostic {
    let label = format!("`{operator}` behind it decides how its rows travel");
    Diagnostic::warning("W0502", format!("`{word}` has no effect here"), span, label)
        .with_help(format!("take `{word}` away: rows come by the key of `{operator}`, or all to one task where it has none"))
}
