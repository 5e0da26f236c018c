//! `and`, `or` and conditions: three-valued as in SQL, and no operand is evaluated once the result is known.

use millstream_runtime::graph::{BinaryOp, Expr, ExprKind, Ty, UnaryOp};
use proc_macro2::TokenStream;
use quote::quote;

use super::{CHAIN, Hold, Lowering, Value};

impl<'a> Lowering<'a> {
    /// `left and right`, `left or right`, as a `bool` or, where one of them may be null, as an `Option<bool>`.
    pub(super) fn connective(&mut self, op: BinaryOp, left: Value, left_ty: &Ty, right: &'a Expr) -> Value {
        // What decides the result alone: false for `and`, true for `or`.
        let decisive = op == BinaryOp::Or;
        let (left_null, right_null) = (left_ty.is_optional(), right.ty.is_optional());
        let right = self.block(|lowering| lowering.lower(right));
        let (left_tokens, right_tokens) = (&left.tokens, &right.tokens);
        let tokens = match (left_null, right_null) {
            (false, false) => {
                let operator = if decisive { quote!(||) } else { quote!(&&) };
                let (left, right) = (left.operand(), right.operand());
                quote!(#left #operator #right)
            }
            (false, true) if decisive => quote!(if #left_tokens { Some(true) } else { #right_tokens }),
            (false, true) => quote!(if #left_tokens { #right_tokens } else { Some(false) }),
            (true, false) => {
                let name = self.variable();
                let (then, otherwise) =
                    if decisive { (quote!(Some(true)), quote!(#name)) } else { (quote!(#name), quote!(Some(false))) };
                quote!(match #left_tokens {
                    Some(#decisive) => Some(#decisive),
                    #name => if #right_tokens { #then } else { #otherwise },
                })
            }
            (true, true) => {
                let name = self.variable();
                let other = !decisive;
                quote!(match #left_tokens {
                    Some(#decisive) => Some(#decisive),
                    #name => match (#name, #right_tokens) {
                        (_, Some(#decisive)) => Some(#decisive),
                        (Some(#other), Some(#other)) => Some(#other),
                        _ => None,
                    },
                })
            }
        };
        Value::open(tokens, Hold::Copy)
    }

    /// Whether a condition is true: neither false nor null. A plain `bool`.
    pub(in crate::codegen) fn condition(&mut self, expr: &'a Expr) -> Value {
        if !expr.ty.is_optional() {
            return self.lower(expr);
        }
        match &expr.kind {
            // Both must be true, or one of them: null is as good as false here.
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..) => self.conditions(*op, expr),
            ExprKind::Unary(UnaryOp::Not, inner) => {
                let tokens = self.lower(inner).operand();
                Value::open(quote!(#tokens == Some(false)), Hold::Copy)
            }
            _ => {
                let tokens = self.lower(expr).operand();
                Value::open(quote!(#tokens == Some(true)), Hold::Copy)
            }
        }
    }

    /// A chain of one connective.
    fn conditions(&mut self, op: BinaryOp, expr: &'a Expr) -> Value {
        let mut operands = Vec::new();
        let mut leftmost = expr;
        while let ExprKind::Binary(inner, left, right) = &leftmost.kind
            && *inner == op
        {
            operands.push(&**right);
            leftmost = left;
        }
        let operator = if op == BinaryOp::And { quote!(&&) } else { quote!(||) };
        let mut tokens: TokenStream = self.condition(leftmost).operand();
        for (count, operand) in operands.into_iter().rev().enumerate() {
            let right = self.block(|lowering| lowering.condition(operand)).operand();
            let left = Value::open(tokens, Hold::Copy).operand();
            tokens = quote!(#left #operator #right);
            if count % CHAIN == CHAIN - 1 {
                tokens = self.hoist(Value::open(tokens, Hold::Copy), &Ty::Bool).tokens;
            }
        }
        Value::open(tokens, Hold::Copy)
    }
}
