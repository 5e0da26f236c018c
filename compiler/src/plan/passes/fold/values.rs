//! Arithmetic, comparison and conversion of literals. None: it would fail, or is better left to the running job.

use std::cmp::Ordering;

use millstream_runtime::graph::{BinaryOp, Literal, Ty};

/// `-value`
pub fn negate(value: &Literal, ty: &Ty) -> Option<Literal> {
    match value {
        Literal::Int(value) => integer(value.checked_neg()?, ty),
        Literal::Float(value) => Some(Literal::Float(-value)),
        Literal::Decimal(value) => Some(Literal::Decimal(value.checked_neg()?)),
        Literal::Duration(value) => Some(Literal::Duration(value.checked_neg()?)),
        _ => None,
    }
}

/// Whether two literals of one type are equal.
pub fn equal(a: &Literal, b: &Literal) -> Option<bool> {
    match (a, b) {
        (Literal::Null, Literal::Null) => Some(true),
        (Literal::Null, _) | (_, Literal::Null) => Some(false),
        _ => a.order(b).map(Ordering::is_eq),
    }
}

/// `left op right`, neither of them null.
pub fn binary(op: BinaryOp, left: (&Literal, &Ty), right: (&Literal, &Ty), ty: &Ty) -> Option<Literal> {
    // Values of an enum are sorted as they are written, not by their names.
    let by_name = !matches!(left.1.required(), Ty::Enum(_)) || matches!(op, BinaryOp::Equal | BinaryOp::NotEqual);
    let same_type = by_name && left.1.required() == right.1.required();
    let decided = |test: fn(Ordering) -> bool| {
        let order = if same_type { left.0.order(right.0) } else { None };
        order.map(|order| Literal::Bool(test(order)))
    };
    match op {
        BinaryOp::Equal => decided(Ordering::is_eq),
        BinaryOp::NotEqual => decided(Ordering::is_ne),
        BinaryOp::Less => decided(Ordering::is_lt),
        BinaryOp::LessOrEqual => decided(Ordering::is_le),
        BinaryOp::Greater => decided(Ordering::is_gt),
        BinaryOp::GreaterOrEqual => decided(Ordering::is_ge),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Like | BinaryOp::Matches => None,
        BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => {
            arithmetic(op, left, right, ty.required())
        }
    }
}

fn arithmetic(op: BinaryOp, left: (&Literal, &Ty), right: (&Literal, &Ty), ty: &Ty) -> Option<Literal> {
    match (left.0, right.0) {
        (Literal::Int(a), Literal::Int(b)) => integer(int_arithmetic(op, *a, *b)?, ty),
        (Literal::Float(a), Literal::Float(b)) => float_arithmetic(op, *a, *b, ty),
        (Literal::Decimal(a), Literal::Decimal(b)) => decimal_arithmetic(op, (*a, left.1), (*b, right.1), ty),
        (Literal::String(a), Literal::String(b)) if op == BinaryOp::Add => Some(Literal::String(format!("{a}{b}"))),
        (Literal::Timestamp(a), Literal::Timestamp(b)) if op == BinaryOp::Subtract => Some(Literal::Duration(a.checked_sub(*b)?)),
        (Literal::Timestamp(a), Literal::Duration(b)) => timestamp(micros(op, *a, *b)?),
        (Literal::Date(a), Literal::Duration(b)) => timestamp(micros(op, i64::from(*a).checked_mul(DAY)?, *b)?),
        (Literal::Duration(a), Literal::Duration(b)) => Some(Literal::Duration(micros(op, *a, *b)?)),
        (Literal::Duration(a), Literal::Int(b)) => {
            let result = match op {
                BinaryOp::Multiply | BinaryOp::Divide => int_arithmetic(op, i128::from(*a), *b)?,
                _ => return None,
            };
            Some(Literal::Duration(i64::try_from(result).ok()?))
        }
        _ => None,
    }
}

const DAY: i64 = 86_400_000_000;

fn micros(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Subtract => a.checked_sub(b),
        _ => None,
    }
}

/// Only in the years 1 to 9999: beyond them the running job decides.
fn timestamp(micros: i64) -> Option<Literal> {
    const FIRST: i64 = -719_162 * DAY;
    const LAST: i64 = 2_932_897 * DAY;
    (FIRST..LAST).contains(&micros).then_some(Literal::Timestamp(micros))
}

fn int_arithmetic(op: BinaryOp, a: i128, b: i128) -> Option<i128> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Subtract => a.checked_sub(b),
        BinaryOp::Multiply => a.checked_mul(b),
        BinaryOp::Divide => a.checked_div(b),
        // The smallest integer % -1 overflows in narrower types.
        BinaryOp::Remainder if b != -1 => a.checked_rem(b),
        _ => None,
    }
}

/// An integer, if it fits its type.
fn integer(value: i128, ty: &Ty) -> Option<Literal> {
    let (signed, bits) = ty.required().integer_bits()?;
    let (low, high) = match signed {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    (low..=high).contains(&value).then_some(Literal::Int(value))
}

fn float_arithmetic(op: BinaryOp, a: f64, b: f64, ty: &Ty) -> Option<Literal> {
    let result = if *ty == Ty::Float32 {
        let (a, b) = (a as f32, b as f32);
        f64::from(match op {
            BinaryOp::Add => a + b,
            BinaryOp::Subtract => a - b,
            BinaryOp::Multiply => a * b,
            BinaryOp::Divide => a / b,
            _ => a % b,
        })
    } else {
        match op {
            BinaryOp::Add => a + b,
            BinaryOp::Subtract => a - b,
            BinaryOp::Multiply => a * b,
            BinaryOp::Divide => a / b,
            _ => a % b,
        }
    };
    // Infinity and NaN have no literal.
    result.is_finite().then_some(Literal::Float(result))
}

fn decimal_arithmetic(op: BinaryOp, (a, a_ty): (i128, &Ty), (b, b_ty): (i128, &Ty), ty: &Ty) -> Option<Literal> {
    let (a_scale, b_scale, scale) = (scale_of(a_ty)?, scale_of(b_ty)?, scale_of(ty)?);
    let result = match op {
        BinaryOp::Add => rescale(a, a_scale, scale)?.checked_add(rescale(b, b_scale, scale)?)?,
        BinaryOp::Subtract => rescale(a, a_scale, scale)?.checked_sub(rescale(b, b_scale, scale)?)?,
        BinaryOp::Multiply if a_scale + b_scale == scale => a.checked_mul(b)?,
        _ => return None,
    };
    decimal(result, ty)
}

fn scale_of(ty: &Ty) -> Option<u8> {
    match ty.required() {
        Ty::Decimal { scale, .. } => Some(*scale),
        _ => None,
    }
}

/// To a scale that is not smaller.
fn rescale(value: i128, from: u8, to: u8) -> Option<i128> {
    value.checked_mul(10i128.checked_pow(u32::from(to.checked_sub(from)?))?)
}

/// A decimal, if its digits fit its precision.
fn decimal(value: i128, ty: &Ty) -> Option<Literal> {
    let Ty::Decimal { precision, .. } = ty.required() else { return None };
    let limit = 10u128.checked_pow(u32::from(*precision))?;
    (value.unsigned_abs() < limit).then_some(Literal::Decimal(value))
}

/// A number in another numeric type, where it is exact.
pub fn convert(value: &Literal, from: &Ty, to: &Ty) -> Option<Literal> {
    let to = to.required();
    match value {
        Literal::Int(value) if to.is_integer() => integer(*value, to),
        Literal::Int(value) if to.is_decimal() => decimal(rescale(*value, 0, scale_of(to)?)?, to),
        Literal::Int(value) if to.is_float() => {
            let exact = if *to == Ty::Float32 { 1 << 24 } else { 1 << 53 };
            (value.unsigned_abs() <= exact).then_some(Literal::Float(*value as f64))
        }
        Literal::Decimal(value) if to.is_decimal() => decimal(rescale(*value, scale_of(from)?, scale_of(to)?)?, to),
        _ => None,
    }
}
