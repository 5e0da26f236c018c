//! Conversions: those that the user writes, and those that the compiler puts between types that fit.

use millstream_runtime::graph::{CastMode, Expr, ExprKind, Ty};
use quote::quote;

use super::branch::adapt;
use super::{Hold, Lowering, Value, place};
use crate::codegen::types::type_without_names;

impl<'a> Lowering<'a> {
    pub(super) fn cast(&mut self, mode: CastMode, operand: &'a Expr, ty: &'a Ty) -> Value {
        if mode == CastMode::NotNull {
            return self.not_null(operand, ty);
        }
        if operand.ty == Ty::Null {
            return Value::closed(quote!(None), Hold::Copy);
        }
        let (from, to) = (type_without_names(operand.ty.required()), type_without_names(ty.required()));
        let value = self.lower(operand);
        if from == to {
            return if operand.ty.is_optional() && !ty.is_optional() {
                self.required(value, &operand.ty)
            } else {
                adapt(value, &operand.ty, ty)
            };
        }
        let operands = vec![(value.borrowed(&operand.ty), &operand.ty)];
        let attempt = mode == CastMode::Try;
        let value = self.lift(operands, attempt, |lowering, values| lowering.convert(&values[0], &from, &to, attempt));
        // `try_cast` of a required value is optional by itself; all others keep the operand's nullability.
        let result_optional = operand.ty.is_optional() || attempt;
        if result_optional { value } else { adapt(value, &to, ty) }
    }

    /// A required value of one type as another.
    fn convert(&mut self, value: &Value, from: &Ty, to: &Ty, attempt: bool) -> Value {
        let hold = if to.is_copy() { Hold::Copy } else { Hold::Owned };
        let target = self.cx.types.borrow_mut().owned(to);
        let tokens = &value.tokens;
        if widens(from, to) {
            let widened = quote!(#target::from(#tokens));
            return Value::closed(if attempt { quote!(Some(#widened)) } else { widened }, hold);
        }
        let operand = value.operand();
        let tokens = if value.hold == Hold::Copy { quote!(&#operand) } else { quote!(#tokens) };
        if attempt {
            return Value::closed(quote!(cast::try_cast::<#target, _>(#tokens)), hold);
        }
        self.fallible(quote!(cast::cast::<#target, _>(#tokens)), hold)
    }

    /// A value that cannot be null here, though its type says so.
    fn not_null(&mut self, operand: &'a Expr, ty: &Ty) -> Value {
        if let ExprKind::Field(base, name) = &operand.kind
            && let ExprKind::Column(column) = &base.kind
            && let Some(record) = self.bindings.unwrapped.get(column.as_str()).cloned()
            && let Ty::Record(schema) = base.ty.required()
        {
            let field = self.cx.types.borrow_mut().field(schema, name);
            let inner = schema.field(name).map_or_else(|| ty.clone(), |field| field.ty.clone());
            let value = place(quote!(#record.#field), &inner);
            return if inner.is_optional() { self.required(value, &inner) } else { value };
        }
        if let ExprKind::Column(column) = &operand.kind
            && let Some(record) = self.bindings.unwrapped.get(column.as_str())
        {
            return place(record.clone(), ty);
        }
        let value = self.lower(operand);
        self.required(value, &operand.ty)
    }

    pub(in crate::codegen) fn required(&mut self, value: Value, ty: &Ty) -> Value {
        let value = if value.hold == Hold::Place { value.borrowed(ty) } else { value };
        let tokens = &value.tokens;
        self.fallible(quote!(required(#tokens)), value.hold)
    }
}

/// Whether `To::from(value)` of the standard library converts without loss.
fn widens(from: &Ty, to: &Ty) -> bool {
    if let (Some((from_signed, from_bits)), Some((to_signed, to_bits))) = (from.integer_bits(), to.integer_bits()) {
        return to_bits > from_bits && (to_signed || !from_signed);
    }
    match (from.integer_bits(), to) {
        (Some((_, bits)), Ty::Float64) => bits <= 32,
        (Some((_, bits)), Ty::Float32) => bits <= 16,
        (None, Ty::Float64) => *from == Ty::Float32,
        _ => false,
    }
}
