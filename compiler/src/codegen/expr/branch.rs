//! `if`, `match` and `??`: one branch is evaluated.

use millstream_runtime::graph::{Expr, ExprKind, Literal, Ty};
use proc_macro2::TokenStream;
use quote::quote;

use super::compare::patterns;
use super::value::common;
use super::{Hold, Lowering, Value};
use crate::codegen::context::Context;

impl<'a> Lowering<'a> {
    /// An `if`, and all that stand in its `else`.
    pub(super) fn if_else(&mut self, expr: &'a Expr) -> Value {
        let mut branches = Vec::new();
        let mut last = expr;
        while let ExprKind::If(condition, then, otherwise) = &last.kind {
            // Later conditions are only evaluated when the earlier ones are not true.
            let condition = if branches.is_empty() {
                self.condition(condition).tokens
            } else {
                self.block(|lowering| lowering.condition(condition)).tokens
            };
            branches.push((condition, self.branch(then, &expr.ty), &then.ty));
            last = otherwise;
        }
        let otherwise = self.branch(last, &expr.ty);
        let hold = common(&branches.iter().map(|(_, value, _)| value).chain([&otherwise]).collect::<Vec<_>>());
        let mut tokens = TokenStream::new();
        for (condition, value, _) in branches {
            let value = value.held(hold, &expr.ty).tokens;
            tokens.extend(quote!(if #condition { #value } else));
        }
        let otherwise = otherwise.held(hold, &expr.ty).tokens;
        Value::open(quote!(#tokens { #otherwise }), hold)
    }

    /// A branch, with the type of the whole: a required one becomes optional where another branch may be null.
    fn branch(&mut self, expr: &'a Expr, ty: &Ty) -> Value {
        let value = self.block(|lowering| lowering.lower(expr));
        adapt(value, &expr.ty, ty)
    }

    pub(super) fn coalesce(&mut self, first: &'a Expr, second: &'a Expr) -> Value {
        if first.ty == Ty::Null {
            return self.lower(second);
        }
        if !first.ty.is_optional() {
            return self.lower(first);
        }
        let name = self.variable();
        let first_value = self.lower(first);
        let second_value = self.block(|lowering| lowering.lower(second));
        // Where the second is optional the result is; the first, if there, stays in its `Some`.
        let optional = second.ty.is_optional();
        let hold = common(&[&first_value, &second_value]);
        let first_tokens = first_value.held(hold, &first.ty).tokens;
        let second_tokens = second_value.held(hold, &second.ty).tokens;
        let there = if optional { quote!(Some(#name)) } else { quote!(#name) };
        Value::open(quote!(match #first_tokens { Some(#name) => #there, None => #second_tokens }), hold)
    }

    pub(super) fn match_arms(&mut self, subject: &'a Expr, arms: &'a [(Vec<Expr>, Expr)], otherwise: &'a Expr, ty: &Ty) -> Value {
        let subject_value = self.lower_borrowed(subject);
        let results: Vec<Value> = arms.iter().map(|(_, result)| self.branch(result, ty)).collect();
        let otherwise_value = self.branch(otherwise, ty);
        let hold = common(&results.iter().chain([&otherwise_value]).collect::<Vec<_>>());
        let results: Vec<TokenStream> = results.into_iter().map(|value| value.held(hold, ty).tokens).collect();
        let otherwise = otherwise_value.held(hold, ty).tokens;
        let required = subject.ty.required();
        let all = arms.iter().flat_map(|(literals, _)| literals).filter(|literal| !is_null(literal));
        let tokens = if patterns(self.cx, all, required).is_some() {
            by_pattern(self.cx, &subject_value, &subject.ty, arms, &results, &otherwise)
        } else {
            self.by_comparison(&subject_value, &subject.ty, arms, &results, &otherwise)
        };
        Value::open(tokens, hold)
    }

    /// For types that Rust's patterns do not know: one comparison after the other.
    fn by_comparison(
        &mut self,
        subject: &Value,
        ty: &Ty,
        arms: &'a [(Vec<Expr>, Expr)],
        results: &[TokenStream],
        otherwise: &TokenStream,
    ) -> TokenStream {
        let name = self.variable();
        let subject = &subject.tokens;
        let mut chain = TokenStream::new();
        for ((literals, _), result) in arms.iter().zip(results) {
            let mut tests = Vec::new();
            for literal in literals {
                if is_null(literal) && !ty.is_optional() {
                    continue;
                }
                if is_null(literal) {
                    tests.push(quote!(#name.is_none()));
                } else {
                    let value = self.block(|lowering| lowering.lower_borrowed(literal));
                    let (value, inside) = (&value.tokens, value.operand());
                    let wrap = ty.is_optional() && !literal.ty.is_optional();
                    tests.push(if wrap { quote!(#name == Some(#value)) } else { quote!(#name == #inside) });
                }
            }
            if !tests.is_empty() {
                chain.extend(quote!(if #(#tests)||* { #result } else));
            }
        }
        // A `match` on the whole keeps temporaries of the subject alive to its end.
        quote!(match #subject { #name => #chain { #otherwise } })
    }
}

/// A Rust `match`. A literal that an earlier arm has is left out, as it could never be reached.
fn by_pattern(
    cx: &Context<'_>,
    subject: &Value,
    ty: &Ty,
    arms: &[(Vec<Expr>, Expr)],
    results: &[TokenStream],
    otherwise: &TokenStream,
) -> TokenStream {
    let optional = ty.is_optional();
    let mut seen: Vec<&Literal> = Vec::new();
    let mut tokens = TokenStream::new();
    for ((literals, _), result) in arms.iter().zip(results) {
        let mut alternatives = Vec::new();
        for expr in literals {
            let ExprKind::Literal(literal) = &expr.kind else { continue };
            let impossible = *literal == Literal::Null && !optional;
            if seen.contains(&literal) || impossible {
                continue;
            }
            seen.push(literal);
            let pattern = cx.literal(literal, ty);
            alternatives.push(if optional && *literal != Literal::Null { quote!(Some(#pattern)) } else { pattern });
        }
        if !alternatives.is_empty() {
            tokens.extend(quote!(#(#alternatives)|* => #result,));
        }
    }
    let both = seen.contains(&&Literal::Bool(true)) && seen.contains(&&Literal::Bool(false));
    let all = match ty.required() {
        Ty::Enum(of) => of.values.iter().all(|value| seen.contains(&&Literal::String(value.clone()))),
        _ => both,
    };
    let complete = all && (!optional || seen.contains(&&Literal::Null));
    if !complete {
        tokens.extend(quote!(_ => #otherwise,));
    }
    let subject = &subject.tokens;
    quote!(match #subject { #tokens })
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(Literal::Null))
}

/// Wraps a required value in `Some` where an optional one is wanted.
pub(in crate::codegen) fn adapt(value: Value, from: &Ty, to: &Ty) -> Value {
    if !to.is_optional() || from.is_optional() {
        return value;
    }
    let value = if value.hold == Hold::Place { value.borrowed(from) } else { value };
    let tokens = &value.tokens;
    Value::closed(quote!(Some(#tokens)), value.hold)
}
