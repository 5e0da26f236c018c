//! Expressions: null is lifted, logic is three-valued and lazy, arithmetic is checked.

use std::cmp::Ordering;

use millstream_runtime::graph::{BinaryOp, CastMode, Expr, ExprKind, Literal, Ty, UnaryOp, WindowBound};

use super::value::{Row, Value};

/// An evaluation error; which one does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed;

/// What an expression can read.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    pub row: &'a Row,
    pub keys: &'a [Value],
    pub calls: &'a [Value],
    pub window: Option<(i64, i64)>,
}

/// Evaluates over a row.
pub fn eval(expr: &Expr, row: &Row) -> Result<Value, Failed> {
    eval_in(expr, Scope { row, keys: &[], calls: &[], window: None })
}

pub fn eval_in(expr: &Expr, scope: Scope<'_>) -> Result<Value, Failed> {
    let eval = |expr: &Expr| eval_in(expr, scope);
    match &expr.kind {
        ExprKind::Literal(literal) => Ok(from_literal(literal)),
        ExprKind::Column(name) => match scope.row.get(name) {
            Some(value) => Ok(value.clone()),
            None => panic!("no column {name} in {:?}", scope.row),
        },
        ExprKind::Key(index) => Ok(scope.keys[*index].clone()),
        ExprKind::Aggregate(index) => Ok(scope.calls[*index].clone()),
        ExprKind::Window(bound) => {
            let (start, end) = scope.window.expect("a window");
            Ok(Value::Timestamp(if *bound == WindowBound::Start { start } else { end }))
        }
        ExprKind::Field(base, field) => Ok(match eval(base)? {
            Value::Null => Value::Null,
            Value::Record(row) => row.get(field).unwrap_or_else(|| panic!("no field {field} in {row:?}")).clone(),
            other => panic!("{other:?} has no fields"),
        }),
        ExprKind::Unary(op, operand) => match (op, eval(operand)?) {
            (_, Value::Null) => Ok(Value::Null),
            (UnaryOp::Not, Value::Bool(value)) => Ok(Value::Bool(!value)),
            (UnaryOp::Negate, Value::Int(value)) => in_range(-value, &expr.ty),
            (op, value) => panic!("{op:?} {value:?}"),
        },
        ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
            let decides = Value::Bool(*op == BinaryOp::Or);
            let left = eval(left)?;
            if left == decides {
                return Ok(left);
            }
            let right = eval(right)?;
            Ok(if right == decides || left != Value::Null { right } else { Value::Null })
        }
        ExprKind::Binary(op, left, right) => binary(*op, eval(left)?, eval(right)?, &expr.ty),
        ExprKind::Coalesce(first, second) => match eval(first)? {
            Value::Null => eval(second),
            value => Ok(value),
        },
        ExprKind::IsNull(operand) => Ok(Value::Bool(eval(operand)? == Value::Null)),
        ExprKind::In(operand, list) => {
            let operand = eval(operand)?;
            let mut null = operand == Value::Null;
            for item in list {
                let item = eval(item)?;
                if item == Value::Null {
                    null = true;
                } else if item == operand {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(if null { Value::Null } else { Value::Bool(false) })
        }
        ExprKind::If(condition, then, otherwise) => match eval(condition)? {
            Value::Bool(true) => eval(then),
            _ => eval(otherwise),
        },
        ExprKind::Match { subject, arms, otherwise } => {
            let subject = eval(subject)?;
            for (patterns, result) in arms {
                for pattern in patterns {
                    if eval(pattern)? == subject {
                        return eval(result);
                    }
                }
            }
            eval(otherwise)
        }
        ExprKind::Cast(mode, inner) => match (mode, eval(inner)?) {
            (CastMode::NotNull, Value::Null) => Err(Failed),
            (CastMode::Implicit | CastMode::Checked, Value::Int(value)) => in_range(value, &expr.ty),
            (CastMode::Try, Value::Int(value)) => Ok(in_range(value, &expr.ty).unwrap_or(Value::Null)),
            (_, value) => Ok(value),
        },
        ExprKind::List(items) => Ok(Value::List(items.iter().map(eval).collect::<Result<_, _>>()?)),
        other => panic!("the interpreter does not know {other:?}"),
    }
}

fn from_literal(literal: &Literal) -> Value {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::String(value) => Value::String(value.clone()),
        Literal::Timestamp(value) => Value::Timestamp(*value),
        Literal::Duration(value) => Value::Duration(*value),
        other => panic!("the interpreter does not know {other:?}"),
    }
}

fn in_range(value: i128, ty: &Ty) -> Result<Value, Failed> {
    let (low, high) = match ty.required() {
        Ty::Int8 => (i128::from(i8::MIN), i128::from(i8::MAX)),
        Ty::Int32 => (i128::from(i32::MIN), i128::from(i32::MAX)),
        Ty::Int64 => (i128::from(i64::MIN), i128::from(i64::MAX)),
        other => panic!("the interpreter does not know integers of type {other}"),
    };
    if (low..=high).contains(&value) { Ok(Value::Int(value)) } else { Err(Failed) }
}

fn binary(op: BinaryOp, left: Value, right: Value, ty: &Ty) -> Result<Value, Failed> {
    if left == Value::Null || right == Value::Null {
        return Ok(Value::Null);
    }
    let order = left.cmp(&right);
    let test = |holds: bool| Ok(Value::Bool(holds));
    match op {
        BinaryOp::Equal => return test(order == Ordering::Equal),
        BinaryOp::NotEqual => return test(order != Ordering::Equal),
        BinaryOp::Less => return test(order == Ordering::Less),
        BinaryOp::LessOrEqual => return test(order != Ordering::Greater),
        BinaryOp::Greater => return test(order == Ordering::Greater),
        BinaryOp::GreaterOrEqual => return test(order != Ordering::Less),
        _ => {}
    }
    match (op, left, right) {
        (BinaryOp::Divide | BinaryOp::Remainder, _, Value::Int(0)) => Err(Failed),
        (BinaryOp::Add, Value::Int(a), Value::Int(b)) => in_range(a + b, ty),
        (BinaryOp::Subtract, Value::Int(a), Value::Int(b)) => in_range(a - b, ty),
        (BinaryOp::Multiply, Value::Int(a), Value::Int(b)) => in_range(a * b, ty),
        (BinaryOp::Divide, Value::Int(a), Value::Int(b)) => in_range(a / b, ty),
        // As the checked operation of Rust: the smallest integer % -1 overflows.
        (BinaryOp::Remainder, Value::Int(a), Value::Int(b)) => in_range(a / b, ty).and_then(|_| in_range(a % b, ty)),
        (BinaryOp::Add, Value::String(a), Value::String(b)) => Ok(Value::String(a + &b)),
        (BinaryOp::Subtract, Value::Timestamp(a), Value::Duration(b)) => a.checked_sub(b).map(Value::Timestamp).ok_or(Failed),
        (op, left, right) => panic!("the interpreter does not know {left:?} {op:?} {right:?}"),
    }
}
