//! Calls of async functions of the user's.

use millstream_runtime::graph::CallAsyncOperation;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::Stage;
use crate::codegen::closure::over_row;
use crate::codegen::names::ident;
use crate::codegen::tokens::unless_used;

impl<'a> Stage<'a> {
    /// One closure that asks with a row and gives it back with the answer, and one that makes a row of both.
    pub(super) fn call_async(&self, asked: &'a CallAsyncOperation) -> TokenStream {
        let mut lowering = over_row(self.cx, self.input.schema, &self.vertex.origin);
        let value = lowering.lower_owned(&asked.call).tokens;
        let statements = lowering.take_statements();
        let timeout = Literal::i64_unsuffixed(asked.waits.timeout);
        let answer = quote!(in_time(#timeout, async { #statements Ok::<_, EvalError>(#value) }).await);
        let answer = lowering.at_place(&answer, &asked.call.origin);
        let (rust, schema) = (self.input.rust(self.cx), self.output.schema);
        // A call has params of its own, as it may still be on its way when the next is made: without a copy of them.
        let params = lowering.uses_params.then(|| quote!(let params = params.clone();));
        let moves = lowering.uses_params.then(|| quote!(move));
        let body = quote!(async move { let answer = #answer; (row, answer) });
        let body = if lowering.uses_params { quote!({ #params #body }) } else { body };
        let ask = quote!(#moves |row: #rust| #body);
        let ask = if lowering.uses_params { quote!({ let params = std::sync::Arc::new(params.clone()); #ask }) } else { ask };
        let fields: Vec<TokenStream> = schema
            .fields
            .iter()
            .map(|field| {
                let to = self.cx.types.borrow_mut().field(schema, &field.name);
                if field.name == asked.name {
                    return quote!(#to: answer);
                }
                let from = self.cx.types.borrow_mut().field(self.input.schema, &field.name);
                quote!(#to: row.#from)
            })
            .collect();
        let made = quote!(#(#fields),*);
        let (row, answer) = (unless_used(&made, ident("row")), unless_used(&made, ident("answer")));
        let made_row = self.cx.row(schema);
        let answer_type = self.cx.types.borrow_mut().owned(&asked.call.ty);
        let join = quote!(|#row: #rust, #answer: #answer_type| #made_row { #made });
        let (name, ordered, in_flight) = (&asked.function, asked.waits.ordered, Literal::u64_unsuffixed(asked.waits.in_flight));
        quote!(CallAsync::new(#name, #ordered, #in_flight, #ask, #join))
    }
}
