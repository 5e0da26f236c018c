//! Calls of the standard library and of the user's own functions.

use millstream_runtime::functions;
use millstream_runtime::graph::signature::{Pattern, Signature};
use millstream_runtime::graph::{Expr, Ty};
use proc_macro2::TokenStream;
use quote::quote;

use super::branch::adapt;
use super::{Hold, Lowering, Value};
use crate::codegen::names::Scope;

/// How one argument is handed over.
enum Argument {
    /// The parameter takes no null: a null argument makes the result null.
    Lifted,
    /// The parameter takes an `Option`.
    Optional,
    /// A pattern that is compiled when the row is there.
    Pattern,
    /// Tokens that need nothing of the row.
    Ready(TokenStream),
}

impl<'a> Lowering<'a> {
    /// `functions::lower(text)`. A parameter that was left out is `None`; repeated ones come as a slice.
    pub(super) fn call(&mut self, function: &str, args: &'a [Expr], ty: &'a Ty) -> Value {
        let spec = functions::find(function);
        let signature = spec.and_then(|spec| Signature::parse(spec.signature).ok());
        let (Some(spec), Some(signature)) = (spec, signature) else { return super::never() };
        let repeated_from = signature.params.iter().position(|parameter| parameter.repeated);
        let mut operands = Vec::new();
        for (index, arg) in args.iter().enumerate() {
            let parameter = signature.parameter(index);
            let pattern = parameter.map(|parameter| &parameter.ty);
            let optional = parameter.is_some_and(|parameter| parameter.optional);
            operands.push(match pattern {
                Some(Pattern::Regex) => {
                    let kind = match self.literal_regex(arg) {
                        Some(name) => Argument::Ready(quote!(&#name)),
                        None => Argument::Pattern,
                    };
                    (self.lower_borrowed(arg), &arg.ty, kind, optional)
                }
                Some(Pattern::Optional(_)) => (self.lower_borrowed(arg), &arg.ty, Argument::Optional, optional),
                _ => (self.lower_borrowed(arg), &arg.ty, Argument::Lifted, optional),
            });
        }
        let name = Scope::default().value(function);
        let flat = matches!(signature.result, Pattern::Optional(_));
        let left_out = signature.params.len().saturating_sub(args.len().max(repeated_from.map_or(0, |from| from + 1)));
        self.call_with(operands, flat, |lowering, mut values| {
            if let Some(from) = repeated_from.filter(|from| *from <= values.len()) {
                let rest = values.split_off(from);
                values.push(quote!(&[#(#rest),*]));
            }
            values.extend((0..left_out).map(|_| quote!(None)));
            let call = quote!(functions::#name(#(#values),*));
            let hold = if ty.is_copy() { Hold::Copy } else { Hold::Owned };
            if spec.fallible { lowering.fallible(call, hold) } else { Value::closed(call, hold) }
        })
    }

    /// `functions::euros(price)`, a function of the generated crate.
    pub(super) fn call_user(&mut self, function: &str, args: &'a [Expr], ty: &'a Ty) -> Value {
        let cx = self.cx;
        let Some((name, definition)) = cx.function(function) else { return super::never() };
        let mut operands = Vec::new();
        for (arg, (_, wanted)) in args.iter().zip(&definition.params) {
            let kind = if wanted.is_optional() { Argument::Optional } else { Argument::Lifted };
            operands.push((self.lower_borrowed(arg), &arg.ty, kind, false));
        }
        let with_params = cx.function_uses_params(function).then(|| quote!(params));
        self.uses_params |= with_params.is_some();
        let flat = definition.body.ty.is_optional();
        self.call_with(operands, flat, |lowering, values| {
            let values = with_params.into_iter().chain(values);
            let wait = definition.waits.map(|_| quote!(.await));
            let call = quote!(crate::functions::#name(#(#values),*)#wait);
            lowering.fallible(call, if ty.is_copy() { Hold::Copy } else { Hold::Owned })
        })
    }

    /// Lifts over the arguments that take no null, and hands the others over as options.
    fn call_with(
        &mut self,
        operands: Vec<(Value, &Ty, Argument, bool)>,
        flat: bool,
        call: impl FnOnce(&mut Self, Vec<TokenStream>) -> Value,
    ) -> Value {
        let mut lifted = Vec::new();
        // Where each argument comes from: the next lifted value, or tokens of its own.
        let mut places = Vec::new();
        for (value, ty, kind, left_out) in operands {
            match kind {
                Argument::Lifted => {
                    lifted.push((value, ty));
                    places.push((None, left_out, false));
                }
                Argument::Pattern => {
                    lifted.push((value, ty));
                    places.push((None, left_out, true));
                }
                Argument::Ready(tokens) => places.push((Some(tokens), left_out, false)),
                Argument::Optional => {
                    let required = ty.required().clone();
                    let tokens = adapt(value, ty, &required.optional()).tokens;
                    places.push((Some(tokens), false, false));
                }
            }
        }
        self.lift(lifted, flat, |lowering, values| {
            let mut values = values.into_iter();
            let mut tokens = Vec::new();
            for (ready, left_out, pattern) in places {
                let Some(mut token) = ready.or_else(|| values.next().map(|value| value.tokens)) else { continue };
                if pattern {
                    let compiled = lowering.compiled(&token);
                    token = quote!(&#compiled);
                }
                tokens.push(if left_out { quote!(Some(#token)) } else { token });
            }
            call(lowering, tokens)
        })
    }
}
