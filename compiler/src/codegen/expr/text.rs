//! Text: f-strings, `like` and `matches`.

use millstream_runtime::graph::{BinaryOp, Expr, ExprKind, Literal, Ty};
use proc_macro2::TokenStream;
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
        if let Some(pattern) = self.literal_regex(right) {
            return self.lift(vec![left], false, |_, values| {
                let text = &values[0].tokens;
                Value::closed(quote!(#pattern.is_match(#text)), Hold::Copy)
            });
        }
        let operands = vec![left, (self.lower_borrowed(right), &right.ty)];
        self.lift(operands, false, |lowering, values| {
            let (text, pattern) = (&values[0].tokens, lowering.compiled(&values[1].tokens));
            Value::closed(quote!(#pattern.is_match(#text)), Hold::Copy)
        })
    }

    /// The static that holds the compiled form of a literal pattern.
    pub(super) fn literal_regex(&mut self, pattern: &Expr) -> Option<TokenStream> {
        match &pattern.kind {
            ExprKind::Literal(Literal::String(text)) => Some(self.cx.patterns.borrow_mut().name(text)),
            _ => None,
        }
    }

    /// A pattern that is known only when the row is there, compiled (and remembered by the runtime).
    pub(super) fn compiled(&mut self, pattern: &TokenStream) -> TokenStream {
        self.fallible(quote!(Regex::dynamic(#pattern)), Hold::Owned).tokens
    }
}
