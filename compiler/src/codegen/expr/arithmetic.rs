//! `+ - * / %`. Integers, decimals and times are checked by the runtime; floats are plain operators.

use millstream_runtime::graph::{BinaryOp, Expr, Ty};
use quote::{format_ident, quote};

use super::{Hold, Lowering, Value};

impl<'a> Lowering<'a> {
    pub(super) fn arithmetic(&mut self, op: BinaryOp, left: Value, left_ty: &Ty, right: &'a Expr, ty: &Ty) -> Value {
        let right_value = self.lower_borrowed(right);
        let operands = vec![(left.borrowed(left_ty), left_ty), (right_value, &right.ty)];
        let result = ty.required().clone();
        let kind = left_ty.required().clone();
        self.lift(operands, false, move |lowering, values| {
            let (a, b) = (&values[0], &values[1]);
            match (&kind, &result) {
                (Ty::String, _) => {
                    let (a, b) = (a.operand(), b.operand());
                    Value::closed(quote!(concat_text(&[&#a, &#b])), Hold::Owned)
                }
                (_, Ty::Float32 | Ty::Float64) => {
                    let (a, b, operator) = (a.operand(), b.operand(), operator(op));
                    Value::open(quote!(#a #operator #b), Hold::Copy)
                }
                _ => {
                    let (a, b, name) = (&a.tokens, &b.tokens, format_ident!("{}", name(op)));
                    // Only decimals have a choice of results.
                    let output = matches!(result, Ty::Decimal { .. }).then(|| {
                        let output = lowering.cx.types.borrow_mut().owned(&result);
                        quote!(::<#output, _, _>)
                    });
                    lowering.fallible(quote!(arith::#name #output (#a, #b)), Hold::Copy)
                }
            }
        })
    }
}

fn name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "add",
        BinaryOp::Subtract => "sub",
        BinaryOp::Multiply => "mul",
        BinaryOp::Divide => "div",
        _ => "rem",
    }
}

fn operator(op: BinaryOp) -> proc_macro2::TokenStream {
    match op {
        BinaryOp::Add => quote!(+),
        BinaryOp::Subtract => quote!(-),
        BinaryOp::Multiply => quote!(*),
        BinaryOp::Divide => quote!(/),
        _ => quote!(%),
    }
}
