//! One common type for values that meet: operands, branches, items of a list.

use millstream_runtime::graph::{Expr, ExprKind, Literal, Ty};

use super::casts::{adapt, widens};
use super::decimals;

/// The type that holds all values of both; None: there is none.
pub fn common(a: &Ty, b: &Ty) -> Option<Ty> {
    match (a, b) {
        (Ty::Error, other) | (other, Ty::Error) => return Some(other.clone()),
        (Ty::Null, other) | (other, Ty::Null) => return Some(other.clone().optional()),
        _ => {}
    }
    let optional = a.is_optional() || b.is_optional();
    let ty = common_required(a.required(), b.required())?;
    Some(if optional { ty.optional() } else { ty })
}

fn common_required(a: &Ty, b: &Ty) -> Option<Ty> {
    if widens(a, b) {
        return Some(b.clone());
    }
    if widens(b, a) {
        return Some(a.clone());
    }
    if let (Some((_, a_bits)), Some((_, b_bits))) = (a.integer_bits(), b.integer_bits()) {
        // One is signed, one is not: the next larger signed type holds both.
        let unsigned = if a.integer_bits().is_some_and(|(signed, _)| signed) { b_bits } else { a_bits };
        return match unsigned {
            8 => Some(Ty::Int16),
            16 => Some(Ty::Int32),
            32 => Some(Ty::Int64),
            _ => None,
        };
    }
    if a.is_float() && b.is_integer() || a.is_integer() && b.is_float() {
        return Some(Ty::Float64);
    }
    let decimal = |ty: &Ty| decimals::parts(ty).or_else(|| decimals::digits(ty).map(|digits| (i32::from(digits), 0)));
    if a.is_decimal() || b.is_decimal() {
        return Some(decimals::common(decimal(a)?, decimal(b)?));
    }
    None
}

/// Whether this is a literal, whose type adapts to what stands beside it.
pub fn is_flexible(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(literal) => {
            matches!(literal, Literal::Null | Literal::Int(_) | Literal::Float(_) | Literal::Decimal(_) | Literal::Date(_))
        }
        ExprKind::List(items) => items.iter().all(is_flexible),
        _ => false,
    }
}

/// Brings all to one type. Err: the places of two that do not go together, and all of them as they were.
pub fn unify(exprs: Vec<Expr>) -> Result<(Vec<Expr>, Ty), (usize, usize, Vec<Expr>)> {
    if let Some(first) = exprs.first()
        && !matches!(first.ty, Ty::Error | Ty::Null)
        && exprs.iter().all(|expr| expr.ty == first.ty)
    {
        let ty = first.ty.clone();
        return Ok((exprs, ty));
    }
    let exprs = exact_beside_decimals(exprs);
    let exprs = texts_beside_enums(exprs)?;
    let firm: Vec<usize> = (0..exprs.len()).filter(|index| !is_flexible(&exprs[*index])).collect();
    if !firm.is_empty()
        && let Ok(ty) = common_of(&exprs, &firm)
    {
        let optional = exprs.iter().any(|expr| expr.ty.is_optional());
        let ty = if optional { ty.optional() } else { ty };
        if misfit(&exprs, &ty).is_none() {
            return Ok((adapt_all(exprs, &ty), ty));
        }
    }
    let all: Vec<usize> = (0..exprs.len()).collect();
    let ty = match common_of(&exprs, &all) {
        Ok(ty) => ty,
        Err((a, b)) => return Err((a, b, exprs)),
    };
    match misfit(&exprs, &ty) {
        None => Ok((adapt_all(exprs, &ty), ty)),
        Some(index) => {
            let other = if index == 0 { exprs.len() - 1 } else { 0 };
            Err((other, index, exprs))
        }
    }
}

/// The first literal that cannot be of this type. What is no literal always can: the type was made from theirs.
fn misfit(exprs: &[Expr], ty: &Ty) -> Option<usize> {
    exprs.iter().position(|expr| is_flexible(expr) && adapt(expr.clone(), ty).is_err())
}

fn adapt_all(exprs: Vec<Expr>, ty: &Ty) -> Vec<Expr> {
    exprs.into_iter().map(|expr| adapt(expr, ty).unwrap_or_else(|expr| expr)).collect()
}

/// Literals beside a decimal are read as exact decimals.
fn exact_beside_decimals(exprs: Vec<Expr>) -> Vec<Expr> {
    if !exprs.iter().any(|expr| expr.ty.required().is_decimal()) {
        return exprs;
    }
    let exact = |expr: Expr| match matches!(expr.kind, ExprKind::Literal(Literal::Int(_) | Literal::Float(_))) {
        true => decimals::exact(expr).unwrap_or_else(|expr| expr),
        false => expr,
    };
    exprs.into_iter().map(exact).collect()
}

/// Texts beside an enum are its values, or mistakes.
fn texts_beside_enums(mut exprs: Vec<Expr>) -> Result<Vec<Expr>, (usize, usize, Vec<Expr>)> {
    let Some(of) = exprs.iter().position(|expr| matches!(expr.ty.required(), Ty::Enum(_))) else { return Ok(exprs) };
    let ty = exprs[of].ty.required().clone();
    for index in 0..exprs.len() {
        if matches!(exprs[index].kind, ExprKind::Literal(Literal::String(_))) && exprs[index].ty == Ty::String {
            match adapt(exprs[index].clone(), &ty) {
                Ok(value) => exprs[index] = value,
                Err(_) => return Err((of, index, exprs)),
            }
        }
    }
    Ok(exprs)
}

fn common_of(exprs: &[Expr], among: &[usize]) -> Result<Ty, (usize, usize)> {
    let mut ty = Ty::Error;
    let mut decided = among.first().copied().unwrap_or(0);
    for index in among {
        let Some(next) = common(&ty, &exprs[*index].ty) else { return Err((decided, *index)) };
        if next != ty {
            decided = *index;
        }
        ty = next;
    }
    Ok(ty)
}
