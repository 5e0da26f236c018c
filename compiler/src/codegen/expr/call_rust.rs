//! Calls of functions in Rust files: values are converted at both ends where the user's types are others.

use millstream_runtime::graph::{Expr, Passing, RustFunction, Ty};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::{Hold, Lowering, Value};

impl<'a> Lowering<'a> {
    /// `Convert::convert(crate::enrich::country_of(ip))`
    pub(super) fn call_rust(&mut self, function: &'a RustFunction, args: &'a [Expr], ty: &'a Ty) -> Value {
        let cx = self.cx;
        let arguments: Vec<TokenStream> = args
            .iter()
            .zip(&function.params)
            .map(|(arg, passing)| {
                let value = self.lower_borrowed(arg).tokens;
                match passing {
                    Passing::AsIs => value,
                    Passing::Value => quote!(Convert::convert(#value)),
                    Passing::Reference => quote!(&Convert::convert(#value)),
                    Passing::Slice => quote!(&Convert::<Vec<_>>::convert(#value)),
                    Passing::OptionalReference => quote!(#value.map(|value| Convert::convert(value)).as_ref()),
                }
            })
            .collect();
        let path = cx.rust.path(function.module, &function.path);
        let wait = function.waits.map(|_| quote!(.await));
        let mut call = quote!(#path(#(#arguments),*)#wait);
        if function.fallible {
            call = quote!(#call.map_err(|error| EvalError::new(error.to_string())));
            if let Some(waits) = function.waits.filter(|waits| waits.retries > 0) {
                let (retries, backoff) = (Literal::u64_unsuffixed(waits.retries), Literal::i64_unsuffixed(waits.backoff));
                // Only the call: an argument that has no value will have none the next time either.
                call = quote!({
                    let mut retries = Retries::new(#retries, #backoff);
                    loop {
                        let answer = #call;
                        if answer.is_ok() || !retries.again().await {
                            break answer;
                        }
                    }
                });
            }
            call = quote!(#call?);
        }
        let result = match function.iterator {
            true => quote!(#call.into_iter().map(Convert::convert).collect::<Vec<_>>()),
            false => quote!(Convert::convert(#call)),
        };
        Value::closed(result, if ty.is_copy() { Hold::Copy } else { Hold::Owned })
    }
}
