//! `over (..)`: partition, order, accumulators and output row, as an `Analysis`, and the operator that drives it.

use millstream_runtime::graph::{Expr, Frame, OverOperation};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::accumulators::{Accumulator, accumulator_struct};
use super::{Stage, Template, carrier};
use crate::codegen::doc;
use crate::codegen::expr::{Bindings, Lowering};
use crate::codegen::keys::{key_type, key_value};
use crate::codegen::literal::micros;
use crate::codegen::names::{Scope, ident};
use crate::codegen::tokens::unless_used;

impl<'a> Stage<'a> {
    pub(super) fn over(&self, over: &'a OverOperation, names: &mut Scope) -> Template {
        let item = self.vertex.uid.split('/').next().unwrap_or_default();
        let name = names.type_name(&format!("{item} over"));
        let acc = names.type_name(&format!("{item} over acc"));
        let accumulators = self.analytic_accumulators(over);
        let (methods, uses_params) = self.analysis_methods(over, &accumulators);
        let keys: Vec<&Expr> = over.keys.iter().collect();
        self.cx.types.borrow_mut().keep_in_state(self.input.schema);
        let (row, out) = (self.cx.row(self.input.schema), self.cx.row(self.output.schema));
        let key = key_type(self.cx, &keys);
        let origin = doc::origin(&self.vertex.origin);
        let (acc_type, acc_struct) = accumulator_struct(&acc, &accumulators);
        let (definition, value) = carrier(&name, uses_params);
        let items = quote! {
            #origin
            #definition
            impl Analysis for #name {
                type In = #row;
                type Key = #key;
                type Acc = #acc_type;
                type Out = #out;
                #methods
            }
            #acc_struct
        };
        let frame = match over.frame {
            Frame::Running => quote!(Running),
            Frame::All => quote!(All),
            Frame::Rows(count) => {
                let count = Literal::u64_unsuffixed(count);
                quote!(Rows(#count))
            }
            Frame::Time(length) => {
                let length = micros(length);
                quote!(Time(#length))
            }
            Frame::Ahead(count) => {
                let count = Literal::u64_unsuffixed(count);
                quote!(Ahead(#count))
            }
        };
        let ttl = self.ttl();
        Template { operator: quote!(Over::new(Frame::#frame, #value) #ttl), items }
    }

    /// The functions of the trait, and whether one of them needs params.
    fn analysis_methods(&self, over: &'a OverOperation, accumulators: &[Accumulator<'a>]) -> (TokenStream, bool) {
        let mut methods = TokenStream::new();
        let keys: Vec<&Expr> = over.keys.iter().collect();

        let rows = ("In", self.input.schema);
        let (key, mut any_params) = self.row_method("key", rows, quote!(Self::Key), |lowering| key_value(lowering, &keys));
        methods.extend(key);

        let of_time = |lowering: &mut Lowering<'a>| lowering.lower_owned(&over.time).tokens;
        let (time, uses_params) = self.row_method("time", rows, quote!(Timestamp), of_time);
        methods.extend(time);
        any_params |= uses_params;

        let (body, uses_params) = self.accumulate(accumulators, "add");
        any_params |= uses_params;
        let params = uses_params.then(|| quote!(let params = &self.params;));
        let (acc, row) = (unless_used(&body, ident("acc")), unless_used(&body, ident("row")));
        methods.extend(quote! {
            fn add(&self, #acc: &mut Self::Acc, #row: &Self::In) -> Result<(), EvalError> { #params #body Ok(()) }
        });
        if matches!(over.frame, Frame::Rows(_) | Frame::Time(_)) {
            methods.extend(self.merge_method(accumulators));
        }
        methods.extend(self.analysis_output(over, accumulators));
        (methods, any_params)
    }

    /// The row's own columns are moved, the values of the calls added.
    fn analysis_output(&self, over: &'a OverOperation, accumulators: &[Accumulator<'a>]) -> TokenStream {
        let mut lowering = Lowering::new(self.cx, &self.vertex.origin, Bindings::default());
        let (results, _) = self.results(accumulators, &mut lowering);
        let schema = self.output.schema;
        let fields: Vec<TokenStream> = schema
            .fields
            .iter()
            .map(|field| {
                let to = self.cx.types.borrow_mut().field(schema, &field.name);
                match over.calls.iter().position(|(name, _)| *name == field.name) {
                    Some(index) => {
                        let value = &accumulators[index].name;
                        quote!(#to: #value)
                    }
                    None => {
                        let from = self.cx.types.borrow_mut().field(self.input.schema, &field.name);
                        quote!(#to: row.#from)
                    }
                }
            })
            .collect();
        let row = self.cx.row(schema);
        let body = quote!(#results Ok(#row { #(#fields),* }));
        let acc = unless_used(&body, ident("acc"));
        quote! {
            fn output(&self, row: Self::In, #acc: &Self::Acc) -> Result<Self::Out, EvalError> { #body }
        }
    }
}
