//! Implicit casts, which lose nothing, and the casts that the user writes.

use millstream_runtime::graph::{CastMode, Expr, ExprKind, Literal, Ty};

use super::decimals;

/// Wraps an expression into a cast.
pub fn cast(mode: CastMode, expr: Expr, ty: Ty) -> Expr {
    let origin = expr.origin.clone();
    Expr { kind: ExprKind::Cast(mode, Box::new(expr)), ty, origin }
}

/// The input column that an expression is.
pub fn plain_column(value: &Expr) -> Option<&str> {
    match &value.kind {
        ExprKind::Column(name) => Some(name),
        ExprKind::Cast(CastMode::NotNull, inner) => plain_column(inner),
        _ => None,
    }
}

/// Whether every value of `from` is one of `to` (both required). Integers become floats too, as in SQL.
pub fn widens(from: &Ty, to: &Ty) -> bool {
    if from == to || *from == Ty::Error || *to == Ty::Error {
        return true;
    }
    if let (Some((from_signed, from_bits)), Some((signed, bits))) = (from.integer_bits(), to.integer_bits()) {
        return if from_signed == signed { bits >= from_bits } else { signed && bits > from_bits };
    }
    match (from, to) {
        // A date is its midnight, UTC.
        (Ty::Float32, Ty::Float64) | (Ty::Date, Ty::Timestamp) => true,
        (from, Ty::Float64) => from.is_integer(),
        (Ty::Int8 | Ty::Int16 | Ty::UInt8 | Ty::UInt16, Ty::Float32) => true,
        (Ty::Decimal { .. }, Ty::Decimal { .. }) | (_, Ty::Decimal { .. }) => {
            let from = decimals::parts(from).or_else(|| decimals::digits(from).map(|digits| (i32::from(digits), 0)));
            match (from, decimals::parts(to)) {
                (Some((p, s)), Some((precision, scale))) => scale >= s && precision - scale >= p - s,
                _ => false,
            }
        }
        // Records of the same columns differ in nothing but their names.
        (Ty::Record(from), Ty::Record(to)) => {
            from.fields.len() == to.fields.len()
                && from.fields.iter().zip(&to.fields).all(|(a, b)| a.name == b.name && same_shape(&a.ty, &b.ty))
        }
        (Ty::List(from), Ty::List(to)) => **from == Ty::Null || same_shape(from, to),
        _ => false,
    }
}

/// Equal but for names of records and what columns are called outside.
pub fn same_shape(a: &Ty, b: &Ty) -> bool {
    match (a, b) {
        (Ty::Error, _) | (_, Ty::Error) => true,
        (Ty::Record(_), Ty::Record(_)) => widens(a, b),
        (Ty::List(a), Ty::List(b)) | (Ty::Optional(a), Ty::Optional(b)) => same_shape(a, b),
        (Ty::Map(key, value), Ty::Map(key_2, value_2)) => same_shape(key, key_2) && same_shape(value, value_2),
        (a, b) => a == b,
    }
}

/// Brings an expression to a type without loss: literals by value, others by a cast. Err: the expression as it was.
pub fn adapt(expr: Expr, to: &Ty) -> Result<Expr, Expr> {
    if expr.ty == *to || expr.ty == Ty::Error || *to == Ty::Error {
        return Ok(expr);
    }
    if let Ty::Optional(inner) = to {
        return match &expr.ty {
            Ty::Null => Ok(Expr { ty: to.clone(), ..expr }),
            Ty::Optional(from) if widens(from, inner) => Ok(cast(CastMode::Implicit, expr, to.clone())),
            Ty::Optional(_) => into_parts(expr, to),
            _ => adapt(expr, inner).map(|expr| cast(CastMode::Implicit, expr, to.clone())),
        };
    }
    if expr.ty.is_optional() {
        return Err(expr);
    }
    if let ExprKind::Literal(literal) = &expr.kind {
        if let Some(literal) = adapt_literal(literal, &expr, to) {
            return Ok(Expr { kind: ExprKind::Literal(literal), ty: to.clone(), origin: expr.origin });
        }
        let fixed = matches!(literal, Literal::Int(_)) && (to.is_integer() || to.is_decimal());
        if fixed {
            return Err(expr);
        }
    }
    let expr = match into_parts(expr, to) {
        Ok(expr) => return Ok(expr),
        Err(expr) => expr,
    };
    match widens(&expr.ty, to) {
        true => Ok(cast(CastMode::Implicit, expr, to.clone())),
        false => Err(expr),
    }
}

fn adapt_literal(literal: &Literal, expr: &Expr, to: &Ty) -> Option<Literal> {
    match (literal, to) {
        (Literal::Int(value), to) if to.is_integer() => fits(*value, to).then_some(Literal::Int(*value)),
        (Literal::Int(value), to) if to.is_float() => Some(Literal::Float(*value as f64)),
        (Literal::Float(value), Ty::Float32 | Ty::Float64) => Some(Literal::Float(*value)),
        (Literal::Int(_) | Literal::Float(_), Ty::Decimal { .. }) => {
            let exact = decimals::exact(expr.clone()).ok()?;
            let ExprKind::Literal(Literal::Decimal(unscaled)) = exact.kind else { return None };
            decimals::rescale(unscaled, decimals::parts(&exact.ty)?.1, decimals::parts(to)?).map(Literal::Decimal)
        }
        (Literal::Decimal(unscaled), Ty::Decimal { .. }) => {
            decimals::rescale(*unscaled, decimals::parts(&expr.ty)?.1, decimals::parts(to)?).map(Literal::Decimal)
        }
        (Literal::String(text), Ty::Enum(of)) if expr.ty == Ty::String => {
            of.values.contains(text).then(|| Literal::String(text.clone()))
        }
        (Literal::Date(days), Ty::Timestamp) => i64::from(*days).checked_mul(86_400_000_000).map(Literal::Timestamp),
        _ => None,
    }
}

/// Whether an integer type holds this value.
pub fn fits(value: i128, ty: &Ty) -> bool {
    match ty.integer_bits() {
        Some((true, bits)) => value >= -(1i128 << (bits - 1)) && value < (1i128 << (bits - 1)),
        Some((false, bits)) => value >= 0 && value < (1i128 << bits),
        None => false,
    }
}

/// Adapts what an expression is made of, where its own type is only that of its parts.
fn into_parts(expr: Expr, to: &Ty) -> Result<Expr, Expr> {
    let original = expr.clone();
    let Expr { kind, origin, .. } = expr;
    let parts = |list: Vec<Expr>, to: &Ty| list.into_iter().map(|part| adapt(part, to)).collect::<Result<Vec<_>, _>>();
    let kind = match (kind, to) {
        (ExprKind::List(items), Ty::List(item)) => parts(items, item).map(ExprKind::List),
        (ExprKind::If(condition, a, b), to) => parts(vec![*a, *b], to)
            .and_then(|list| <[Expr; 2]>::try_from(list).map_err(|_| original.clone()))
            .map(|[a, b]| ExprKind::If(condition, Box::new(a), Box::new(b))),
        (ExprKind::Record(fields), Ty::Record(schema)) if same_names(&fields, schema) => fields
            .into_iter()
            .zip(&schema.fields)
            .map(|((name, value), field)| Ok((name, adapt(value, &field.ty)?)))
            .collect::<Result<Vec<_>, Expr>>()
            .map(ExprKind::Record),
        _ => return Err(original),
    };
    match kind {
        Ok(kind) => Ok(Expr { kind, ty: to.clone(), origin }),
        Err(_) => Err(original),
    }
}

fn same_names(fields: &[(String, Expr)], schema: &millstream_runtime::graph::Schema) -> bool {
    fields.len() == schema.fields.len() && fields.iter().zip(&schema.fields).all(|((name, _), field)| *name == field.name)
}

/// Whether `cast(x, to)` exists for these required types, and what to use instead where it does not.
pub fn castable(from: &Ty, to: &Ty) -> Result<(), Option<&'static str>> {
    let scalar = |ty: &Ty| !matches!(ty, Ty::List(_) | Ty::Map(..) | Ty::Record(_));
    let ok = match (from, to) {
        (a, b) if widens(a, b) => true,
        (a, b) if a.is_numeric() && b.is_numeric() => true,
        (Ty::String, b) => scalar(b),
        (a, Ty::String) => scalar(a),
        (Ty::Bool, b) => b.is_integer(),
        (a, Ty::Bool) => a.is_integer(),
        (Ty::Date, Ty::Timestamp) | (Ty::Timestamp, Ty::Date | Ty::Time) => true,
        (Ty::List(a), Ty::List(b)) => return castable(a.required(), b.required()),
        (a, Ty::Timestamp) if a.is_numeric() => {
            return Err(Some(
                "say what the number counts: `from_unix_millis(x)`, or `@unit(\"ms\")` before the column of the record",
            ));
        }
        (Ty::Timestamp, b) if b.is_numeric() => return Err(Some("say what to count: `unix_millis(x)`")),
        _ => false,
    };
    if ok { Ok(()) } else { Err(None) }
}
