//! `process`: an operator of the user's, with what turns the rows of this job into its records and back.

use millstream_runtime::graph::{Expr, ProcessOperation, Ty};
use proc_macro2::TokenStream;
use quote::quote;

use super::{Stage, Template, carrier};
use crate::codegen::doc;
use crate::codegen::expr::{Bindings, Lowering};
use crate::codegen::keys::{key_type, key_value};
use crate::codegen::names::Scope;
use crate::codegen::rust::raw;

impl<'a> Stage<'a> {
    pub(super) fn process(&self, process: &'a ProcessOperation, names: &mut Scope) -> Template {
        let cx = self.cx;
        let item = self.vertex.uid.split('/').next().unwrap_or_default();
        let name = names.type_name(&format!("{item} process"));
        let operator = cx.rust.path(process.module, &process.path);
        cx.rust_values.borrow_mut().extend([process.input.clone(), process.output.clone()]);
        cx.rust_values.borrow_mut().extend(process.side.iter().map(|side| Ty::Record(side.schema.clone())));
        let (row, out) = (cx.row(self.input.schema), cx.row(self.output.schema));
        let keys: Vec<&Expr> = process.keys.iter().collect();
        let key = key_type(cx, &keys);
        let (key_method, mut uses_params) =
            self.row_method("key", ("In", self.input.schema), quote!(Self::Key), |lowering| key_value(lowering, &keys));
        let time_method = process.time.as_ref().map(|time| {
            let (method, uses) = self.row_method("time", ("In", self.input.schema), quote!(Option<Timestamp>), |lowering| {
                let value = lowering.lower_owned(time).tokens;
                if time.ty.is_optional() { value } else { quote!(Some(#value)) }
            });
            uses_params |= uses;
            method
        });
        let input = self.process_input(process);
        let (definition, value) = carrier(&name, uses_params);
        let origin = doc::origin(&self.vertex.origin);
        let items = quote! {
            #origin
            #definition
            impl Processing for #name {
                type Process = #operator;
                type In = #row;
                type Out = #out;
                type Key = #key;
                #key_method
                #time_method
                fn input(&self, row: Self::In) -> Result<<Self::Process as Process>::Input, EvalError> {
                    Ok(#input)
                }
                fn output(&self, row: <Self::Process as Process>::Output) -> Result<Self::Out, EvalError> {
                    Ok(Convert::convert(row))
                }
            }
        };
        let options = self.process_options(process, &operator);
        let side = self.late.as_ref().zip(process.side.as_ref()).map(|(stage, side)| {
            let side = cx.row(&side.schema);
            quote!(.with_side(Converted::<_, #side>::new(#stage)))
        });
        let ttl = self.ttl();
        Template { operator: quote!(KeyedProcess::new(#options, #value) #side #ttl), items }
    }

    /// Its record, made of a row that is not needed any more.
    fn process_input(&self, process: &ProcessOperation) -> TokenStream {
        let Some((module, of)) = self.cx.rust_type(&process.input) else { return quote!(unreachable!()) };
        let Ty::Record(schema) = &process.input else { return quote!(unreachable!()) };
        let theirs = self.cx.rust.path(module, &of.path);
        let fields = schema.fields.iter().zip(&of.members).map(|(field, member)| {
            let (ours, member) = (self.cx.types.borrow_mut().field(self.input.schema, &field.name), raw(member));
            quote!(#member: Convert::convert(row.#ours))
        });
        quote!(#theirs { #(#fields),* })
    }

    /// `fraud::FraudScore { threshold: 0.9 }`
    fn process_options(&self, process: &'a ProcessOperation, operator: &TokenStream) -> TokenStream {
        if process.unit {
            return operator.clone();
        }
        let mut lowering = Lowering::new(self.cx, &self.vertex.origin, Bindings::default());
        let fields: Vec<TokenStream> = process
            .options
            .iter()
            .map(|(name, value)| {
                let (name, value) = (raw(name), lowering.lower_owned(value).tokens);
                quote!(#name: Convert::convert(#value))
            })
            .collect();
        let statements = lowering.take_statements();
        let rest = process.defaults.then(|| quote!(..Default::default()));
        let made = quote!(#operator { #(#fields,)* #rest });
        if statements.is_empty() { made } else { quote!({ #statements #made }) }
    }
}
