//! Whether two expressions were written alike, wherever they stand.

use crate::syntax::ast::{Argument, ArgumentValue, Call, Expr, ExprKind, FormatPart, MatchPattern, Type, TypeKind};

/// Equal but for places. Compares pairs from a list, so depth is no danger.
pub fn same(a: &Expr, b: &Expr) -> bool {
    let mut pairs = vec![(a, b)];
    while let Some((a, b)) = pairs.pop() {
        if !same_node(a, b, &mut pairs) {
            return false;
        }
    }
    true
}

fn same_node<'a>(a: &'a Expr, b: &'a Expr, pairs: &mut Vec<(&'a Expr, &'a Expr)>) -> bool {
    use ExprKind::*;
    match (&a.kind, &b.kind) {
        (Field { base, field, safe }, Field { base: base_2, field: field_2, safe: safe_2 }) => {
            pairs.push((base, base_2));
            field.text == field_2.text && safe == safe_2
        }
        (Method { base, method, args }, Method { base: base_2, method: method_2, args: args_2 }) => {
            pairs.push((base, base_2));
            method.text == method_2.text && all(args, args_2, pairs)
        }
        (Index { base, index }, Index { base: base_2, index: index_2 }) => {
            pairs.extend([(&**base, &**base_2), (&**index, &**index_2)]);
            true
        }
        (Unary { op, operand }, Unary { op: op_2, operand: operand_2 }) => {
            pairs.push((operand, operand_2));
            op == op_2
        }
        (Binary { op, left, right, .. }, Binary { op: op_2, left: left_2, right: right_2, .. }) => {
            pairs.extend([(&**left, &**left_2), (&**right, &**right_2)]);
            op == op_2
        }
        (IsNull { operand, negated }, IsNull { operand: operand_2, negated: negated_2 }) => {
            pairs.push((operand, operand_2));
            negated == negated_2
        }
        (In { operand, list, negated }, In { operand: operand_2, list: list_2, negated: negated_2 }) => {
            pairs.extend([(&**operand, &**operand_2), (&**list, &**list_2)]);
            negated == negated_2
        }
        (Between { operand, low, high, negated }, Between { operand: o, low: l, high: h, negated: n }) => {
            pairs.extend([(&**operand, &**o), (&**low, &**l), (&**high, &**h)]);
            negated == n
        }
        (If { condition, then, otherwise }, If { condition: c, then: t, otherwise: o }) => {
            pairs.extend([(&**condition, &**c), (&**then, &**t), (&**otherwise, &**o)]);
            true
        }
        (Match { subject, arms }, Match { subject: subject_2, arms: arms_2 }) => {
            pairs.push((subject, subject_2));
            arms.len() == arms_2.len()
                && arms.iter().zip(arms_2).all(|(arm, arm_2)| {
                    pairs.push((&arm.result, &arm_2.result));
                    pairs.extend(arm.guard.iter().zip(&arm_2.guard));
                    arm.guard.is_some() == arm_2.guard.is_some()
                        && arm.patterns.len() == arm_2.patterns.len()
                        && arm
                            .patterns
                            .iter()
                            .zip(&arm_2.patterns)
                            .all(|(pattern, pattern_2)| same_pattern(pattern, pattern_2, pairs))
                })
        }
        (Call(call), Call(call_2)) => same_call(call, call_2, pairs),
        (Over(over), Over(over_2)) => {
            let (last, last_2) = (&over.last, &over_2.last);
            pairs.extend(over.order.iter().zip(&over_2.order));
            pairs.extend(last.iter().zip(last_2).map(|(last, last_2)| (&last.length, &last_2.length)));
            over.order.is_some() == over_2.order.is_some()
                && last.as_ref().map(|last| last.rows) == last_2.as_ref().map(|last| last.rows)
                && all(&over.by, &over_2.by, pairs)
                && same_call(&over.call, &over_2.call, pairs)
        }
        (List(items), List(items_2)) => all(items, items_2, pairs),
        (Record(fields), Record(fields_2)) => {
            pairs.extend(fields.iter().zip(fields_2).map(|((_, value), (_, value_2))| (value, value_2)));
            fields.len() == fields_2.len() && fields.iter().zip(fields_2).all(|((name, _), (name_2, _))| name.text == name_2.text)
        }
        (Format(parts), Format(parts_2)) => {
            parts.len() == parts_2.len()
                && parts.iter().zip(parts_2).all(|(part, part_2)| match (part, part_2) {
                    (FormatPart::Text(text), FormatPart::Text(text_2)) => text == text_2,
                    (FormatPart::Value(value), FormatPart::Value(value_2)) => {
                        pairs.push((value, value_2));
                        true
                    }
                    _ => false,
                })
        }
        (Float(x), Float(y)) => x.to_bits() == y.to_bits(),
        (Error, _) | (_, Error) => false,
        // What is left has no parts: literals and names.
        (a, b) => a == b,
    }
}

fn same_call<'a>(a: &'a Call, b: &'a Call, pairs: &mut Vec<(&'a Expr, &'a Expr)>) -> bool {
    match (&a.filter, &b.filter) {
        (Some(filter), Some(filter_2)) => pairs.push((filter, filter_2)),
        (None, None) => {}
        _ => return false,
    }
    let argument = |(x, y): (&'a Argument, &'a Argument), pairs: &mut Vec<(&'a Expr, &'a Expr)>| {
        let named = x.name.as_ref().map(|name| &name.text) == y.name.as_ref().map(|name| &name.text);
        named
            && match (&x.value, &y.value) {
                (ArgumentValue::Expr(value), ArgumentValue::Expr(value_2)) => {
                    pairs.push((value, value_2));
                    true
                }
                (ArgumentValue::Type(ty), ArgumentValue::Type(ty_2)) => same_type(ty, ty_2),
                _ => false,
            }
    };
    a.function.text == b.function.text
        && a.distinct.is_some() == b.distinct.is_some()
        && a.args.len() == b.args.len()
        && a.args.iter().zip(&b.args).all(|pair| argument(pair, pairs))
}

fn same_type(a: &Type, b: &Type) -> bool {
    a.optional == b.optional
        && match (&a.kind, &b.kind) {
            (TypeKind::Named { name, numbers }, TypeKind::Named { name: name_2, numbers: numbers_2 }) => {
                name.text == name_2.text && numbers == numbers_2
            }
            (TypeKind::List(item), TypeKind::List(item_2)) => same_type(item, item_2),
            (TypeKind::Map(key, value), TypeKind::Map(key_2, value_2)) => same_type(key, key_2) && same_type(value, value_2),
            _ => false,
        }
}

fn all<'a>(a: &'a [Expr], b: &'a [Expr], pairs: &mut Vec<(&'a Expr, &'a Expr)>) -> bool {
    pairs.extend(a.iter().zip(b));
    a.len() == b.len()
}

fn same_pattern<'a>(pattern: &'a MatchPattern, other: &'a MatchPattern, pairs: &mut Vec<(&'a Expr, &'a Expr)>) -> bool {
    match (pattern, other) {
        (MatchPattern::Value(value), MatchPattern::Value(value_2)) => {
            pairs.push((value, value_2));
            true
        }
        (MatchPattern::Range(range), MatchPattern::Range(range_2)) => {
            pairs.extend(range.from.iter().zip(&range_2.from).chain(range.to.iter().zip(&range_2.to)));
            range.from.is_some() == range_2.from.is_some()
                && range.to.is_some() == range_2.to.is_some()
                && range.inclusive == range_2.inclusive
        }
        _ => false,
    }
}
