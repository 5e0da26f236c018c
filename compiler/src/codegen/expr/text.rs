//! Text: f-strings, `like` and `matches`.

use millstream_runtime::graph::{BinaryOp, Expr, ExprKind, Literal, Ty};
use quote::quote;

use super::{Hold, Lowering, Value};

impl<'a> Lowering<'a> {
    /// `f"{carrier}-{day}"`
    pub(super) fn format(&mut self, parts: &'a [Expr]) -> Value {
        let operands: Vec<_> = parts.iter().map(|part| (self.lower_borrowed(part), &part.ty)).collect();
        self.lift(operands, false, |_, values| {
            let parts = values.iter().map(|value| {
                let tokens = value.operand();
                quote!(&#tokens)
            });
            Value::closed(quote!(concat_text(&[#(#parts),*])), Hold::Owned)
        })
    }

    pub(super) fn pattern(&mut self, op: BinaryOp, left: Value, left_ty: &Ty, right: &'a Expr) -> Value {
        let left = (left.borrowed(left_ty), left_ty);
        if op == BinaryOp::Like {
            let operands = vec![left, (self.lower_borrowed(right), &right.ty)];
            return self.lift(operands, false, |_, values| {
                let (text, pattern) = (&values[0].tokens, &values[1].tokens);
                Value::closed(quote!(like(#text, #pattern)), Hold::Copy)
            });
        }
        let pattern = self.regex(right);
        let operands = vec![left, (pattern, &right.ty)];
        self.lift(operands, false, |_, values| {
            let (text, pattern) = (&values[0].tokens, values[1].operand());
            Value::closed(quote!(#pattern.is_match(#text)), Hold::Copy)
        })
    }

    /// A regular expression as `&Regex`: a literal one is compiled once, any other when it changes.
    pub(super) fn regex(&mut self, pattern: &'a Expr) -> Value {
        if let ExprKind::Literal(Literal::String(text)) = &pattern.kind {
            let name = self.cx.patterns.borrow_mut().name(text);
            return Value::open(quote!(&#name), Hold::Reference);
        }
        let value = self.lower_borrowed(pattern);
        self.lift(vec![(value, &pattern.ty)], false, |lowering, values| {
            let tokens = &values[0].tokens;
            let compiled = lowering.fallible(quote!(Regex::dynamic(#tokens)), Hold::Owned).tokens;
            Value::open(quote!(&#compiled), Hold::Reference)
        })
    }
}
