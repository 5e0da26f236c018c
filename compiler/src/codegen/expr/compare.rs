//! Comparisons, `in` and `is null`.

use millstream_runtime::graph::{BinaryOp, Expr, ExprKind, Literal, Ty};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::quote;

use super::{Hold, Lowering, Value};
use crate::codegen::context::Context;

impl<'a> Lowering<'a> {
    pub(super) fn comparison(&mut self, op: BinaryOp, left: Value, left_ty: &Ty, right: &'a Expr) -> Value {
        let right_value = self.lower_borrowed(right);
        let operator = match op {
            BinaryOp::Equal => quote!(==),
            BinaryOp::NotEqual => quote!(!=),
            BinaryOp::Less => quote!(<),
            BinaryOp::LessOrEqual => quote!(<=),
            BinaryOp::Greater => quote!(>),
            _ => quote!(>=),
        };
        let function = by_function(left_ty.required()).then(|| match op {
            BinaryOp::Equal => quote!(eq),
            BinaryOp::NotEqual => quote!(ne),
            BinaryOp::Less => quote!(lt),
            BinaryOp::LessOrEqual => quote!(le),
            BinaryOp::Greater => quote!(gt),
            _ => quote!(ge),
        });
        self.lift(vec![(left.borrowed(left_ty), left_ty), (right_value, &right.ty)], false, |_, values| {
            let (a, b) = (values[0].operand(), values[1].operand());
            match function {
                Some(function) => {
                    let (a, b) = (reference(&values[0]), reference(&values[1]));
                    Value::closed(quote!(compare::#function(#a, #b)), Hold::Copy)
                }
                None => Value::open(quote!(#a #operator #b), Hold::Copy),
            }
        })
    }

    /// `operand is null`, or with `wanted` false `operand is not null`.
    pub(super) fn null_check(&mut self, operand: &'a Expr, wanted: bool) -> Value {
        if operand.ty == Ty::Null {
            return Value::closed(quote!(#wanted), Hold::Copy);
        }
        if !operand.ty.is_optional() {
            let never = !wanted;
            return Value::closed(quote!(#never), Hold::Copy);
        }
        let tokens = self.lower(operand).operand();
        let check = if wanted { quote!(is_none) } else { quote!(is_some) };
        Value::closed(quote!(#tokens.#check()), Hold::Copy)
    }

    /// `x in [a, b]`: true if one is equal; else null if one is null; else false.
    pub(super) fn in_list(&mut self, subject: &'a Expr, list: &'a [Expr]) -> Value {
        let operands = vec![(self.lower_borrowed(subject), &subject.ty)];
        let (nulls, items): (Vec<&Expr>, Vec<&Expr>) = list.iter().partition(|item| item.ty == Ty::Null);
        let may_be_null = !nulls.is_empty() || items.iter().any(|item| item.ty.is_optional());
        self.lift(operands, may_be_null, |lowering, values| {
            if !may_be_null {
                return lowering.in_required(&values[0], subject.ty.required(), &items);
            }
            // Every item as an option; null ones make the difference between false and null.
            let items: Vec<TokenStream> = items
                .iter()
                .map(|item| {
                    let value = lowering.lower_borrowed(item);
                    let tokens = &value.tokens;
                    if item.ty.is_optional() { value.tokens } else { quote!(Some(#tokens)) }
                })
                .chain(nulls.iter().map(|_| quote!(None)))
                .collect();
            let subject = &values[0].tokens;
            Value::closed(quote!(contains_or_null(#subject, &[#(#items),*])), Hold::Copy)
        })
    }

    fn in_required(&mut self, subject: &Value, ty: &Ty, items: &[&'a Expr]) -> Value {
        let patterns = patterns(self.cx, items.iter().copied(), ty);
        if let Some(patterns) = patterns.filter(|patterns| !patterns.is_empty() && !has_hidden_group(&subject.tokens)) {
            let subject = &subject.tokens;
            return Value::closed(quote!(matches!(#subject, #(#patterns)|*)), Hold::Copy);
        }
        let items: Vec<_> = items.iter().map(|item| self.lower_borrowed(item).tokens).collect();
        let subject = subject.operand();
        Value::closed(quote!([#(#items),*].contains(&#subject)), Hold::Copy)
    }
}

/// Floats, and what may hold floats, do not compare as Rust does: NaN equals NaN.
fn by_function(ty: &Ty) -> bool {
    ty.is_float() || matches!(ty, Ty::List(_) | Ty::Map(..))
}

fn reference(value: &Value) -> TokenStream {
    let (tokens, operand) = (&value.tokens, value.operand());
    if value.hold == Hold::Copy { quote!(&#operand) } else { quote!(#tokens) }
}

/// Literals as patterns, each once, where patterns can say them: booleans, integers and strings.
pub(super) fn patterns<'e>(cx: &Context<'_>, items: impl Iterator<Item = &'e Expr>, ty: &Ty) -> Option<Vec<TokenStream>> {
    if !(ty.is_integer() || matches!(ty, Ty::Bool | Ty::String | Ty::Enum(_))) {
        return None;
    }
    let mut seen: Vec<&Literal> = Vec::new();
    let mut patterns = Vec::new();
    for item in items {
        let ExprKind::Literal(literal) = &item.kind else { return None };
        if *literal == Literal::Null {
            return None;
        }
        if !seen.contains(&literal) {
            seen.push(literal);
            patterns.push(cx.literal(literal, ty));
        }
    }
    Some(patterns)
}

/// Whether tokens hold a group without delimiters, which only the parser of expressions understands.
fn has_hidden_group(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::None || has_hidden_group(&group.stream()),
        _ => false,
    })
}
