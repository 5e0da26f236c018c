//! Expressions and types as text.

use std::fmt::Write;

use super::name;
use crate::syntax::ast::*;

/// An expression in the language's own form, with all parentheses.
pub fn expr(value: &Expr) -> String {
    match &value.kind {
        ExprKind::Null => "null".to_string(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Float(value) => format!("{value:?}"),
        ExprKind::Decimal { unscaled, scale } => decimal(*unscaled, *scale),
        ExprKind::String(text) => format!("{text:?}"),
        ExprKind::Format(parts) => format(parts),
        ExprKind::Duration(micros) => format!("{micros}us"),
        ExprKind::Timestamp(micros) => format!("@{micros}us"),
        ExprKind::Date(days) => format!("@{days}d"),
        ExprKind::Size(bytes) => format!("{bytes}B"),
        ExprKind::Name(text) => super::quoted(text),
        ExprKind::Env(text) => format!("${text}"),
        ExprKind::Field { base, field, safe } => format!("{}{}{}", expr(base), if *safe { "?." } else { "." }, name(field)),
        ExprKind::Method { base, method, args } => {
            format!("{}.{}({})", expr(base), name(method), args.iter().map(expr).collect::<Vec<_>>().join(", "))
        }
        ExprKind::Index { base, index } => format!("{}[{}]", expr(base), expr(index)),
        ExprKind::Unary { op: UnaryOp::Not, operand } => format!("(not {})", expr(operand)),
        ExprKind::Unary { op: UnaryOp::Negate, operand } => format!("(-{})", expr(operand)),
        ExprKind::Binary { op, left, right, .. } => format!("({} {} {})", expr(left), symbol(*op), expr(right)),
        ExprKind::IsNull { operand, negated } => format!("({} is {}null)", expr(operand), if *negated { "not " } else { "" }),
        ExprKind::In { operand, list, negated } => format!("({} {}in {})", expr(operand), not(*negated), expr(list)),
        ExprKind::Between { operand, low, high, negated } => {
            format!("({} {}between {} and {})", expr(operand), not(*negated), expr(low), expr(high))
        }
        ExprKind::If { condition, then, otherwise } => {
            format!("(if {} then {} else {})", expr(condition), expr(then), expr(otherwise))
        }
        ExprKind::Match { subject, arms } => {
            let arms: Vec<String> = arms.iter().map(arm).collect();
            format!("match {} {{ {} }}", expr(subject), arms.join(", "))
        }
        ExprKind::Call(of) => call(of),
        ExprKind::Over(over) => analytic(over),
        ExprKind::List(items) => format!("[{}]", items.iter().map(expr).collect::<Vec<_>>().join(", ")),
        ExprKind::Record(fields) => {
            let fields: Vec<String> = fields.iter().map(|(field, value)| format!("{}: {}", name(field), expr(value))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        ExprKind::Error => "error".to_string(),
    }
}

fn not(negated: bool) -> &'static str {
    if negated { "not " } else { "" }
}

fn decimal(unscaled: i128, scale: u8) -> String {
    let digits = format!("{unscaled:0>width$}", width = usize::from(scale) + 1);
    let (whole, fraction) = digits.split_at(digits.len() - usize::from(scale));
    format!("{whole}.{fraction}d")
}

fn format(parts: &[FormatPart]) -> String {
    let mut text = "f\"".to_string();
    for part in parts {
        let _ = match part {
            FormatPart::Text(plain) => write!(text, "{}", plain.escape_debug()),
            FormatPart::Value(value) => write!(text, "{{{}}}", expr(value)),
        };
    }
    text.push('"');
    text
}

fn arm(arm: &MatchArm) -> String {
    let patterns = match arm.patterns.is_empty() {
        true => "_".to_string(),
        false => arm.patterns.iter().map(pattern).collect::<Vec<_>>().join(" | "),
    };
    let guard = arm.guard.as_ref().map_or(String::new(), |guard| format!(" if {}", expr(guard)));
    format!("{patterns}{guard} => {}", expr(&arm.result))
}

fn pattern(pattern: &MatchPattern) -> String {
    match pattern {
        MatchPattern::Value(value) => expr(value),
        MatchPattern::Range(range) => {
            let end = |end: &Option<Expr>| end.as_ref().map_or(String::new(), expr);
            format!("{}{}{}", end(&range.from), if range.inclusive { "..=" } else { ".." }, end(&range.to))
        }
    }
}

/// A call in the language's own form.
pub(super) fn call(call: &Call) -> String {
    let mut inside: Vec<String> = call
        .args
        .iter()
        .map(|argument| {
            let value = match &argument.value {
                ArgumentValue::Expr(value) => expr(value),
                ArgumentValue::Type(value) => ty(value),
            };
            argument.name.as_ref().map_or(value.clone(), |of| format!("{}: {value}", name(of)))
        })
        .collect();
    if call.distinct.is_some() {
        inside.insert(0, "distinct".to_string());
    }
    let mut text = inside.join(", ").replacen("distinct, ", "distinct ", 1);
    if let Some(filter) = &call.filter {
        let _ = write!(text, "{}where {}", if text.is_empty() { "" } else { " " }, expr(filter));
    }
    format!("{}({text})", name(&call.function))
}

fn analytic(over: &OverExpr) -> String {
    let mut parts = Vec::new();
    if !over.by.is_empty() {
        parts.push(format!("by ({})", over.by.iter().map(expr).collect::<Vec<_>>().join(", ")));
    }
    parts.extend(over.order.iter().map(|order| format!("order by {}", expr(order))));
    parts.extend(over.last.iter().map(|last| format!("last {}{}", expr(&last.length), if last.rows { " rows" } else { "" })));
    format!("{} over ({})", call(&over.call), parts.join(", "))
}

fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Or => "or",
        BinaryOp::And => "and",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::Less => "<",
        BinaryOp::LessOrEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterOrEqual => ">=",
        BinaryOp::Like => "like",
        BinaryOp::NotLike => "not like",
        BinaryOp::Matches => "matches",
        BinaryOp::NotMatches => "not matches",
        BinaryOp::Coalesce => "??",
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Remainder => "%",
    }
}

/// A type in the language's own form.
pub fn ty(value: &Type) -> String {
    let text = match &value.kind {
        TypeKind::Named { name: of, numbers } if numbers.is_empty() => name(of),
        TypeKind::Named { name: of, numbers } => {
            format!("{}({})", name(of), numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))
        }
        TypeKind::List(of) => format!("list<{}>", ty(of)),
        TypeKind::Map(key, of) => format!("map<{}, {}>", ty(key), ty(of)),
        TypeKind::Record(columns) => {
            let columns: Vec<String> =
                columns.iter().map(|column| format!("{}: {}", name(&column.name), ty(&column.ty))).collect();
            format!("{{ {} }}", columns.join(", "))
        }
        TypeKind::Error => "error".to_string(),
    };
    if value.optional { format!("{text}?") } else { text }
}
