//! Expressions, literals and options as text, close to how a user would write them.
//!
//! Used by dumps, `explain` and messages; the text is stable, so that golden files can hold it. Casts that the compiler
//! inserted show as `(x as int64)`, except those that only make a value optional.

use std::fmt::{self, Display, Formatter, Write};

use super::expr::{BinaryOp, CastMode, Expr, ExprKind, Literal, StageFact, UnaryOp, WindowBound};
use super::job::{Exchange, Port};
use super::operation::{ConnectorOption, OptionValue};
use super::ty::Ty;

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_expr(f, self, 0)
    }
}

impl BinaryOp {
    /// The word or sign in the language.
    pub fn sign(self) -> &'static str {
        match self {
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
            BinaryOp::Less => "<",
            BinaryOp::LessOrEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterOrEqual => ">=",
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Remainder => "%",
            BinaryOp::Like => "like",
            BinaryOp::Matches => "matches",
        }
    }

    /// Higher binds tighter.
    fn precedence(self) -> u8 {
        match self {
            BinaryOp::Or => 1,
            BinaryOp::And => 2,
            BinaryOp::Add | BinaryOp::Subtract => 6,
            BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => 7,
            _ => 4,
        }
    }
}

const NOT: u8 = 3;
const COMPARISON: u8 = 4;
const NEGATE: u8 = 8;
const POSTFIX: u8 = 9;

fn precedence(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::If(..) => 0,
        ExprKind::Binary(op, ..) => op.precedence(),
        ExprKind::Unary(UnaryOp::Not, _) => NOT,
        ExprKind::Coalesce(..) | ExprKind::IsNull(_) | ExprKind::In(..) => COMPARISON,
        ExprKind::Unary(UnaryOp::Negate, _) => NEGATE,
        ExprKind::Cast(CastMode::Implicit, inner) if expr.ty.required() == inner.ty.required() => precedence(inner),
        _ => POSTFIX,
    }
}

fn write_expr(f: &mut Formatter<'_>, expr: &Expr, at_least: u8) -> fmt::Result {
    let parenthesised = precedence(expr) < at_least;
    if parenthesised {
        f.write_str("(")?;
    }
    write_bare(f, expr)?;
    if parenthesised {
        f.write_str(")")?;
    }
    Ok(())
}

fn write_bare(f: &mut Formatter<'_>, expr: &Expr) -> fmt::Result {
    match &expr.kind {
        ExprKind::Literal(literal) => write_literal(f, literal, &expr.ty),
        ExprKind::Column(name) => write_name(f, name),
        ExprKind::Param(name) | ExprKind::Local(name) => write_name(f, name),
        ExprKind::Env(name) => write!(f, "${name}"),
        ExprKind::StageEnd(stage, fact) => {
            write_name(f, stage)?;
            match fact {
                StageFact::Max(column) => {
                    f.write_str(".max(")?;
                    write_name(f, column)?;
                    f.write_str(")")
                }
                StageFact::StartTime => f.write_str(".start_time"),
                StageFact::EndTime => f.write_str(".end_time"),
            }
        }
        ExprKind::Window(WindowBound::Start) => f.write_str("window.start"),
        ExprKind::Window(WindowBound::End) => f.write_str("window.end"),
        ExprKind::Key(index) => write!(f, "key[{index}]"),
        ExprKind::Aggregate(index) => write!(f, "call[{index}]"),
        ExprKind::Field(base, field) => {
            write_expr(f, base, POSTFIX)?;
            f.write_str(if base.ty.is_optional() { "?." } else { "." })?;
            write_name(f, field)
        }
        ExprKind::Index(base, index) => {
            write_expr(f, base, POSTFIX)?;
            f.write_str("[")?;
            write_expr(f, index, 0)?;
            f.write_str("]")
        }
        ExprKind::Unary(UnaryOp::Not, operand) => match &operand.kind {
            ExprKind::IsNull(inner) => {
                write_expr(f, inner, COMPARISON + 1)?;
                f.write_str(" is not null")
            }
            _ => {
                f.write_str("not ")?;
                write_expr(f, operand, NOT)
            }
        },
        ExprKind::Unary(UnaryOp::Negate, operand) => {
            f.write_str("-")?;
            write_expr(f, operand, NEGATE + 1)
        }
        ExprKind::Binary(op, left, right) => {
            let level = op.precedence();
            // Comparisons do not chain; the others associate to the left.
            write_expr(f, left, if level == COMPARISON { level + 1 } else { level })?;
            write!(f, " {} ", op.sign())?;
            // `a and (b and c)` is `a and b and c`.
            let same = op.is_lazy() && matches!(&right.kind, ExprKind::Binary(inner, ..) if inner == op);
            write_expr(f, right, if same { level } else { level + 1 })
        }
        ExprKind::Coalesce(left, right) => {
            write_expr(f, left, COMPARISON + 1)?;
            f.write_str(" ?? ")?;
            write_expr(f, right, COMPARISON + 1)
        }
        ExprKind::IsNull(operand) => {
            write_expr(f, operand, COMPARISON + 1)?;
            f.write_str(" is null")
        }
        ExprKind::In(operand, list) => {
            write_expr(f, operand, COMPARISON + 1)?;
            f.write_str(" in [")?;
            write_list(f, list)?;
            f.write_str("]")
        }
        ExprKind::If(condition, then, otherwise) => {
            f.write_str("if ")?;
            write_expr(f, condition, 1)?;
            f.write_str(" then ")?;
            write_expr(f, then, 1)?;
            f.write_str(" else ")?;
            write_expr(f, otherwise, 0)
        }
        ExprKind::Match { subject, arms, otherwise } => {
            f.write_str("match ")?;
            write_expr(f, subject, 1)?;
            f.write_str(" { ")?;
            for (patterns, result) in arms {
                write_list(f, patterns)?;
                write!(f, " => {result}, ")?;
            }
            write!(f, "_ => {otherwise} }}")
        }
        ExprKind::Cast(CastMode::Implicit, inner) if expr.ty.required() == inner.ty.required() => write_bare(f, inner),
        ExprKind::Cast(CastMode::Implicit, inner) => {
            f.write_str("(")?;
            write_expr(f, inner, 1)?;
            write!(f, " as {})", expr.ty)
        }
        // Not a sign of the language: the compiler knows that it is not null here.
        ExprKind::Cast(CastMode::NotNull, inner) => {
            write_expr(f, inner, POSTFIX)?;
            f.write_str("!")
        }
        ExprKind::Cast(mode, inner) => {
            let word = if *mode == CastMode::Try { "try_cast" } else { "cast" };
            write!(f, "{word}({inner}, {})", expr.ty.required())
        }
        ExprKind::Call { function, args } => {
            write!(f, "{function}(")?;
            write_list(f, args)?;
            f.write_str(")")
        }
        ExprKind::CallUser { function, args } => {
            write!(f, "{function}(")?;
            write_list(f, args)?;
            f.write_str(")")
        }
        ExprKind::CallRust { function, args } => {
            write!(f, "rust {}(", function.path.join("::"))?;
            write_list(f, args)?;
            f.write_str(")")
        }
        ExprKind::Format(parts) => {
            f.write_str("f\"")?;
            for part in parts {
                match &part.kind {
                    ExprKind::Literal(Literal::String(text)) => {
                        let text = escaped(text);
                        f.write_str(&text.replace('{', "{{").replace('}', "}}"))?;
                    }
                    _ => write!(f, "{{{part}}}")?,
                }
            }
            f.write_str("\"")
        }
        ExprKind::List(items) => {
            f.write_str("[")?;
            write_list(f, items)?;
            f.write_str("]")
        }
        ExprKind::Record(fields) => {
            f.write_str("{ ")?;
            for (position, (name, value)) in fields.iter().enumerate() {
                if position > 0 {
                    f.write_str(", ")?;
                }
                write_name(f, name)?;
                write!(f, ": {value}")?;
            }
            f.write_str(" }")
        }
        ExprKind::Error => f.write_str("<error>"),
    }
}

fn write_list(f: &mut Formatter<'_>, items: &[Expr]) -> fmt::Result {
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            f.write_str(", ")?;
        }
        write_expr(f, item, 0)?;
    }
    Ok(())
}

/// A name, in backticks where it is not a plain identifier.
fn write_name(f: &mut Formatter<'_>, name: &str) -> fmt::Result {
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit());
    if plain && !name.is_empty() { f.write_str(name) } else { write!(f, "`{name}`") }
}

fn write_literal(f: &mut Formatter<'_>, literal: &Literal, ty: &Ty) -> fmt::Result {
    match literal {
        Literal::Null => f.write_str("null"),
        Literal::Bool(value) => write!(f, "{value}"),
        Literal::Int(value) => write!(f, "{value}"),
        Literal::Float(value) => write!(f, "{value:?}"),
        Literal::Decimal(unscaled) => {
            let scale = if let Ty::Decimal { scale, .. } = ty.required() { *scale } else { 0 };
            write!(f, "{}d", decimal_text(*unscaled, scale))
        }
        Literal::String(text) => write!(f, "\"{}\"", escaped(text)),
        Literal::Bytes(bytes) => {
            f.write_str("bytes\"")?;
            for byte in bytes {
                write!(f, "{byte:02x}")?;
            }
            f.write_str("\"")
        }
        Literal::Date(days) => {
            f.write_str("@")?;
            write_date(f, i64::from(*days))
        }
        Literal::Time(micros) => {
            f.write_str("@")?;
            write_time(f, *micros)
        }
        Literal::Timestamp(micros) => write!(f, "@{}", timestamp_text(*micros)),
        Literal::Duration(micros) => f.write_str(&duration_text(*micros)),
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// `150` with scale 2 is `1.50`.
pub fn decimal_text(unscaled: i128, scale: u8) -> String {
    let digits = unscaled.unsigned_abs().to_string();
    let scale = usize::from(scale);
    let sign = if unscaled < 0 { "-" } else { "" };
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

/// `256MB`: bytes as the language writes sizes.
pub fn size_text(bytes: u64) -> String {
    let units = [("TB", 1u64 << 40), ("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)];
    let unit = units.iter().find(|(_, size)| bytes >= *size && bytes.is_multiple_of(*size));
    unit.map_or_else(|| format!("{bytes}B"), |(unit, size)| format!("{}{unit}", bytes / size))
}

/// `1h30m`, `250ms`, `-5s`, `0s`: microseconds as the language writes durations.
pub fn duration_text(micros: i64) -> String {
    if micros == 0 {
        return "0s".to_owned();
    }
    let mut out = if micros < 0 { "-".to_owned() } else { String::new() };
    let mut rest = micros.unsigned_abs();
    let units = [("d", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1_000), ("us", 1)];
    for (unit, size) in units {
        if rest >= size {
            let _ = write!(out, "{}{unit}", rest / size);
            rest %= size;
        }
    }
    out
}

/// `2026-01-01T00:00:00Z`: microseconds since the epoch, with 0, 3 or 6 digits of a second's fraction.
pub fn timestamp_text(micros: i64) -> String {
    let (days, time) = (micros.div_euclid(86_400_000_000), micros.rem_euclid(86_400_000_000));
    format!("{}T{}Z", date_text(days), time_text(time))
}

/// `2026-01-01`: days since the epoch.
pub fn date_text(days: i64) -> String {
    std::fmt::from_fn(|f| write_date(f, days)).to_string()
}

/// `08:30:00`: microseconds since midnight, with 0, 3 or 6 digits of a second's fraction.
pub fn time_text(micros: i64) -> String {
    std::fmt::from_fn(|f| write_time(f, micros)).to_string()
}

fn write_time(f: &mut Formatter<'_>, micros: i64) -> fmt::Result {
    let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
    write!(f, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
    match fraction {
        0 => Ok(()),
        _ if fraction % 1000 == 0 => write!(f, ".{:03}", fraction / 1000),
        _ => write!(f, ".{fraction:06}"),
    }
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar.
fn write_date(f: &mut Formatter<'_>, days: i64) -> fmt::Result {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    write!(f, "{year:04}-{month:02}-{day:02}")
}

impl Display for Exchange {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Exchange::Forward => f.write_str("forward"),
            Exchange::Rebalance => f.write_str("rebalance"),
            Exchange::Broadcast => f.write_str("broadcast"),
            Exchange::Hash(keys) if keys.is_empty() => f.write_str("all to one"),
            Exchange::Hash(keys) => {
                f.write_str("hash by (")?;
                write_list(f, keys)?;
                f.write_str(")")
            }
        }
    }
}

impl Display for Port {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Port::Main => "main",
            Port::Late => "late",
            Port::Side(0) => "side",
            Port::Side(number) => return write!(f, "side {}", number + 1),
            Port::Error => "error",
        })
    }
}

impl Display for OptionValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            OptionValue::Value(expr) => expr.fmt(f),
            OptionValue::Word(word) => f.write_str(word),
            OptionValue::Block(word, options) => write!(f, "{word} {}", OptionList(options)),
            OptionValue::Columns(columns) => write!(f, "[{}]", columns.join(", ")),
            OptionValue::Size(bytes) => f.write_str(&size_text(*bytes)),
        }
    }
}

/// Options in braces: `{ path: "data/*.csv", format: json }`.
pub struct OptionList<'a>(pub &'a [ConnectorOption]);

impl Display for OptionList<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("{}");
        }
        f.write_str("{ ")?;
        for (position, option) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{}: {}", option.name, option.value)?;
        }
        f.write_str(" }")
    }
}
