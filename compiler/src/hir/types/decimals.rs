//! Decimals: their literals, and the types of their results.

use millstream_runtime::graph::{CastMode, Expr, ExprKind, Literal, Ty};

const MOST: i32 = 38;

/// Decimal digits of the largest value of an integer type.
pub fn digits(ty: &Ty) -> Option<u8> {
    Some(match ty.integer_bits()? {
        (_, 8) => 3,
        (_, 16) => 5,
        (_, 32) => 10,
        (true, _) => 19,
        (false, _) => 20,
    })
}

/// The decimal of this many digits before and behind the point, as far as there is room.
pub fn sized(whole: i32, scale: i32) -> Ty {
    let scale = scale.clamp(0, MOST);
    let precision = (whole.max(0) + scale).clamp(1, MOST);
    Ty::Decimal { precision: precision as u8, scale: scale as u8 }
}

/// (precision, scale) of a decimal type.
pub fn parts(ty: &Ty) -> Option<(i32, i32)> {
    match ty {
        Ty::Decimal { precision, scale } => Some((i32::from(*precision), i32::from(*scale))),
        _ => None,
    }
}

/// The smallest decimal type that holds all values of both.
pub fn common(a: (i32, i32), b: (i32, i32)) -> Ty {
    sized((a.0 - a.1).max(b.0 - b.1), a.1.max(b.1))
}

/// The type of `a op b`; None: no decimal holds it.
pub fn arithmetic(op: millstream_runtime::graph::BinaryOp, a: (i32, i32), b: (i32, i32)) -> Option<Ty> {
    use millstream_runtime::graph::BinaryOp::*;
    let scale = a.1.max(b.1);
    Some(match op {
        Add | Subtract => sized((a.0 - a.1).max(b.0 - b.1) + 1, scale),
        Multiply if a.1 + b.1 > MOST => return None,
        Multiply => sized(a.0 + b.0 - a.1 - b.1, a.1 + b.1),
        Divide => {
            let scale = (a.1 + b.0 + 1).max(6);
            let whole = a.0 - a.1 + b.1;
            sized(whole, scale.min((MOST - whole).max(6)))
        }
        Remainder => sized((a.0 - a.1).min(b.0 - b.1), scale),
        _ => return None,
    })
}

/// A number as an exact decimal of its own size: literals as they were written, integers with room for all values.
pub fn exact(expr: Expr) -> Result<Expr, Expr> {
    let optional = expr.ty.is_optional();
    let required = expr.ty.required().clone();
    let literal = match &expr.kind {
        ExprKind::Literal(Literal::Int(value)) => Some((*value, 0)),
        ExprKind::Literal(Literal::Float(value)) => {
            Some(match written(&expr.origin.text).or_else(|| written(&value.to_string())) {
                Some(parts) => parts,
                None => return Err(expr),
            })
        }
        _ => None,
    };
    if let Some((unscaled, scale)) = literal {
        let count = unscaled.unsigned_abs().checked_ilog10().unwrap_or(0) as i32 + 1;
        if count > MOST || scale > MOST {
            return Err(expr);
        }
        let ty = sized(count.max(scale) - scale, scale);
        return Ok(Expr { kind: ExprKind::Literal(Literal::Decimal(unscaled)), ty, origin: expr.origin });
    }
    if required.is_decimal() {
        return Ok(expr);
    }
    let Some(digits) = digits(&required) else { return Err(expr) };
    let ty = sized(i32::from(digits), 0);
    let origin = expr.origin.clone();
    let ty = if optional { ty.optional() } else { ty };
    Ok(Expr { kind: ExprKind::Cast(CastMode::Implicit, Box::new(expr)), ty, origin })
}

/// A literal's unscaled value at another scale, where no digit is lost and the precision suffices.
pub fn rescale(unscaled: i128, from: i32, to: (i32, i32)) -> Option<i128> {
    let (precision, scale) = to;
    let value = if scale >= from {
        unscaled.checked_mul(10i128.checked_pow((scale - from) as u32)?)?
    } else {
        let factor = 10i128.checked_pow((from - scale) as u32)?;
        (unscaled % factor == 0).then_some(unscaled / factor)?
    };
    let limit = 10i128.checked_pow(precision as u32)?;
    (value.unsigned_abs() < limit.unsigned_abs()).then_some(value)
}

/// `-1_0.908` as (unscaled, scale).
fn written(text: &str) -> Option<(i128, i32)> {
    let text: String = text.chars().filter(|c| *c != '_' && !c.is_whitespace()).collect();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.to_owned()),
        None => (false, text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value: i128 = digits.parse().ok()?;
    Some((if negative { -value } else { value }, fraction.len() as i32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_runtime::graph::BinaryOp;

    #[test]
    fn results_follow_the_rules() {
        let decimal = |precision, scale| Some(Ty::Decimal { precision, scale });
        assert_eq!(arithmetic(BinaryOp::Add, (10, 2), (12, 4)), decimal(13, 4));
        assert_eq!(arithmetic(BinaryOp::Multiply, (3, 3), (19, 0)), decimal(22, 3));
        assert_eq!(arithmetic(BinaryOp::Multiply, (38, 10), (38, 10)), decimal(38, 20));
        assert_eq!(arithmetic(BinaryOp::Divide, (10, 2), (4, 0)), decimal(15, 7));
        assert_eq!(arithmetic(BinaryOp::Divide, (38, 0), (38, 0)), decimal(38, 6));
        assert_eq!(arithmetic(BinaryOp::Multiply, (38, 30), (38, 10)), None);
    }

    #[test]
    fn literals_are_exact() {
        assert_eq!(written("0.908"), Some((908, 3)));
        assert_eq!(written("- 1_0.50"), Some((-1050, 2)));
        assert_eq!(written("1e9"), None);
        assert_eq!(rescale(908, 3, (24, 4)), Some(9080));
        assert_eq!(rescale(908, 3, (24, 2)), None);
        assert_eq!(rescale(1000, 0, (3, 0)), None);
    }
}
