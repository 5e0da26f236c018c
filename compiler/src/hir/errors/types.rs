//! E03xx: values of the wrong type.

use millstream_runtime::graph::Ty;

use crate::diagnostics::Diagnostic;
use crate::source::Span;

/// Operands that an operator cannot take together.
pub fn operands(op: &str, span: Span, left: (&Ty, Span), right: (&Ty, Span), help: Option<String>) -> Diagnostic {
    let title = format!("`{op}` does not take {} and {}", left.0, right.0);
    let diagnostic = Diagnostic::error("E0301", title, span, "these two do not go together")
        .with_label(left.1, format!("this is {}", left.0))
        .with_label(right.1, format!("this is {}", right.0));
    match help {
        Some(help) => diagnostic.with_help(help),
        None => diagnostic,
    }
}

/// An operand that an operator cannot take.
pub fn operand(op: &str, span: Span, ty: &Ty, expected: &str) -> Diagnostic {
    Diagnostic::error("E0301", format!("`{op}` does not take {ty}"), span, format!("this is {ty}, expected {expected}"))
        .with_help(format!("use {expected} here, or `cast(.., type)`"))
}

/// Values of different types where one type is needed (lists, branches, arms, `in`).
pub fn different(place: &str, first: (&Ty, Span), other: (&Ty, Span), help: Option<String>) -> Diagnostic {
    let title = format!("{place} have different types: {} and {}", first.0, other.0);
    let diagnostic = Diagnostic::error("E0301", title, other.1, format!("this is {}", other.0))
        .with_label(first.1, format!("this is {}", first.0));
    match help {
        Some(help) => diagnostic.with_help(help),
        None => diagnostic.with_help(format!("make them one type, for example `cast(.., {})`", first.0.required())),
    }
}

/// A value of one type where another is needed.
pub fn mismatch(what: &str, span: Span, expected: &str, found: &Ty, help: Option<String>) -> Diagnostic {
    let title = format!("{what} takes {expected}, not {found}");
    let diagnostic = Diagnostic::error("E0302", title, span, format!("this is {found}"));
    match help {
        Some(help) => diagnostic.with_help(help),
        None => diagnostic,
    }
}

/// A condition that is not true or false.
pub fn condition(place: &str, span: Span, found: &Ty) -> Diagnostic {
    let help = match found.required() {
        Ty::String => "compare it: `name == \"..\"`".to_owned(),
        ty if ty.is_numeric() => "compare it: `name != 0`".to_owned(),
        _ if found.is_optional() => "ask whether it is there: `name is not null`".to_owned(),
        _ => "write a comparison".to_owned(),
    };
    Diagnostic::error("E0303", format!("{place} needs a condition"), span, format!("this is {found}, not bool")).with_help(help)
}

/// Too few or too many arguments.
pub fn argument_count(function: &str, span: Span, found: usize, signature: &str) -> Diagnostic {
    let label = match found {
        0 => "no argument given".to_owned(),
        1 => "1 argument given".to_owned(),
        n => format!("{n} arguments given"),
    };
    Diagnostic::error("E0304", format!("wrong number of arguments for `{function}`"), span, label)
        .with_help(format!("it is `{signature}`"))
}

/// `f(name: x)` where arguments have no names.
pub fn named_argument(function: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0304", format!("`{function}` takes no named arguments"), span, "this argument has a name")
        .with_help("give the arguments in order, without names")
}

/// A type as an argument of an ordinary function.
pub fn type_argument(function: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0304", format!("`{function}` takes values, not types"), span, "this is a type")
        .with_help("types stand only in `cast(value, type)` and `try_cast(value, type)`")
}

/// An argument of the wrong type.
pub fn argument(function: &str, parameter: &str, span: Span, expected: &str, found: &Ty, signature: &str) -> Diagnostic {
    let title = format!("`{parameter}` of `{function}` takes {expected}, not {found}");
    Diagnostic::error("E0305", title, span, format!("this is {found}")).with_help(format!("it is `{signature}`"))
}

/// A number that its type cannot hold.
pub fn out_of_range(text: &str, span: Span, ty: &Ty) -> Diagnostic {
    let range = ty.integer_bits().map(|(signed, bits)| match signed {
        true => format!("{ty} holds {} to {}", -(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => format!("{ty} holds 0 to {}", (1i128 << bits) - 1),
    });
    Diagnostic::error("E0306", format!("{text} does not fit {ty}"), span, "out of range")
        .with_help(range.unwrap_or_else(|| format!("{ty} cannot hold it exactly")))
}

/// An integer literal beyond all integer types.
pub fn integer_too_big(span: Span) -> Diagnostic {
    Diagnostic::error("E0306", "this number is too big", span, "beyond every integer type")
        .with_help("write a decimal (`..d`, up to 38 digits) or a float (`1e30`)")
}

/// `x / 0`
pub fn division_by_zero(span: Span, op: &str) -> Diagnostic {
    Diagnostic::error("E0307", "division by zero", span, format!("`{op}` by this always fails"))
        .with_help("divide by something else, or guard it: `if n != 0 then x / n else null`")
}

/// `x == null`
pub fn compared_with_null(span: Span, operand: &str, equal: bool) -> Diagnostic {
    let test = if equal { "is null" } else { "is not null" };
    let op = if equal { "==" } else { "!=" };
    Diagnostic::error("E0308", format!("`{op} null` is never true"), span, "comparing with null gives null, as in SQL")
        .with_help(format!("write `{operand} {test}`"))
        .with_fix(format!("write `{test}`"), span, format!("{operand} {test}"), true)
}

/// A regular expression that does not parse.
pub fn bad_regex(span: Span, message: &str) -> Diagnostic {
    Diagnostic::error("E0309", "this regular expression is broken", span, message.to_owned()).with_help(
        "the syntax is that of Rust's regex crate; write `\\(` for a literal parenthesis, and r\"..\" to save backslashes",
    )
}

/// A literal that a function cannot take: a broken JSON path, a time pattern of unknown letters.
pub fn bad_literal(function: &str, parameter: &str, span: Span, message: &str) -> Diagnostic {
    Diagnostic::error("E0319", format!("the {parameter} of `{function}` is broken"), span, message.to_owned())
        .with_help(format!("`millstream functions {function}` says how it is written"))
}

/// A cast between types that have nothing in common.
pub fn no_cast(span: Span, from: &Ty, to: &Ty, help: Option<&str>) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0310", format!("{from} cannot be cast to {to}"), span, format!("this is {from}"));
    match help {
        Some(help) => diagnostic.with_help(help),
        None => diagnostic,
    }
}

/// `x.field` where x has no fields.
pub fn no_fields(field: &str, span: Span, ty: &Ty) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0311", format!("{ty} has no fields"), span, format!("`.{field}` needs a record"));
    match ty.required() {
        Ty::Json => diagnostic.with_help(format!("read it by a function of the library: `json_value(value, \"{field}\")`")),
        Ty::Map(..) => diagnostic.with_help(format!("write `[\"{field}\"]` for an entry of a map")),
        _ => diagnostic,
    }
}

/// `x[i]` where x is neither list nor map.
pub fn no_index(span: Span, ty: &Ty) -> Diagnostic {
    Diagnostic::error("E0312", format!("{ty} cannot be indexed"), span, "`[..]` needs a list or a map")
        .with_help("lists take a number (`items[0]`), maps a key (`labels[\"a\"]`)")
}

/// `decimal(40, 2)`, `int64(3)`
pub fn bad_type(span: Span, title: &str, help: &str) -> Diagnostic {
    Diagnostic::error("E0313", title, span, "not a type").with_help(help)
}

/// The default of a json param that is none.
pub fn bad_json(span: Span, reason: &str) -> Diagnostic {
    Diagnostic::error("E0314", "the default of a json param must be JSON", span, reason.to_owned())
        .with_help("write its text: `\"{}\"`, `r#\"{ \"EUR\": 1.08 }\"#`")
}

/// Something that must be known when the job is compiled.
pub fn not_constant(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0314", format!("{what} must be a constant"), span, "not known before the job runs")
        .with_help("write a literal here, for example `10s` or `5`")
}

/// An optional value where null is not allowed.
pub fn may_be_null(what: &str, span: Span, found: &Ty) -> Diagnostic {
    Diagnostic::error("E0315", format!("{what} may be null"), span, format!("this is {found}"))
        .with_help("give another value for null (`x ?? other`), or keep only rows that have it (`where x is not null`)")
}

/// A `match` that leaves values over, or a pattern that is no literal.
pub fn match_without_rest(span: Span, left: &[String]) -> Diagnostic {
    let title = "this `match` does not cover every value";
    if left.is_empty() {
        return Diagnostic::error("E0316", title, span, "there is no arm for the rest").with_help("add an arm `_ => ..`");
    }
    let shown: Vec<String> = left.iter().take(8).map(|value| format!("`{value}`")).collect();
    let more = if left.len() > shown.len() { format!(" and {} more", left.len() - shown.len()) } else { String::new() };
    Diagnostic::error("E0316", title, span, format!("no arm takes {}{more}", shown.join(", ")))
        .with_help(format!("add an arm `{} => ..`, or `_ => ..` for the rest", left.join(", ")))
}

/// An arm or a pattern whose values are all taken by arms before it.
pub fn arm_takes_nothing(span: Span, first: Option<Span>) -> Diagnostic {
    let diagnostic = Diagnostic::warning("W0302", "this arm is never reached", span, "arms before it take every value of it");
    match first {
        Some(first) => diagnostic.with_label(first, "taken here"),
        None => diagnostic,
    }
    .with_help("leave it out")
}

/// `5..3`
pub fn empty_range(span: Span) -> Diagnostic {
    Diagnostic::warning("W0302", "this range takes no value", span, "its end is not above its beginning")
        .with_help("write the smaller end first: `1..5` are the values from 1 up to 5 but without it, `1..=5` those with it")
}

/// `null..5`
pub fn null_in_range(span: Span) -> Diagnostic {
    Diagnostic::error("E0316", "null is no end of a range", span, "null is neither less nor more than a value")
        .with_help("leave it out for a range without this end: `..5`, `1..`; give null an arm of its own")
}

/// A pattern that is no literal.
pub fn pattern_not_literal(span: Span) -> Diagnostic {
    Diagnostic::error("E0316", "a pattern of `match` must be a literal", span, "this is computed")
        .with_help("compare with it in a condition: `_ if x == limit => ..`")
}

/// An arm behind `_`.
pub fn arm_never_reached(span: Span, rest: Span) -> Diagnostic {
    Diagnostic::error("E0316", "this arm is never reached", span, "everything has been taken before")
        .with_label(rest, "`_` takes the rest")
        .with_help("put `_ => ..` last, once")
}

/// A bare null or an empty list without a type.
pub fn type_unknown(span: Span, what: &str) -> Diagnostic {
    let example = if what == "`null`" { "cast(null, string?)" } else { "cast([], list<string>)" };
    Diagnostic::error("E0317", "the type of this value is not known", span, format!("{what} alone has no type"))
        .with_help(format!("say which one: `{example}`"))
}

/// Ordering things that have no order.
pub fn not_ordered(op: &str, span: Span, ty: &Ty) -> Diagnostic {
    Diagnostic::error("E0318", format!("{ty} has no order"), span, format!("`{op}` needs one"))
        .with_help("compare parts of it, or use `==`")
}

/// `x is null` or `x ?? y` where x is never null.
pub fn never_null(span: Span, ty: &Ty, what: &str) -> Diagnostic {
    Diagnostic::warning("W0301", "this value is never null", span, format!("{ty} without `?`, so {what}"))
}
