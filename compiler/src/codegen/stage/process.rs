//! `process`: an operator of the user's, with what turns the rows of this job into its records and back.

use millstream_runtime::graph::{EnumInput, Expr, ProcessOperation, Schema, Ty};
use proc_macro2::TokenStream;
use quote::quote;

use super::{Stage, Template, carrier};
use crate::codegen::closure::over_row;
use crate::codegen::doc;
use crate::codegen::expr::{Bindings, Lowering};
use crate::codegen::keys::{key_type, key_value};
use crate::codegen::names::{Scope, ident};
use crate::codegen::rust::raw;
use crate::codegen::tokens::unless_used;

impl<'a> Stage<'a> {
    pub(super) fn process(&self, process: &'a ProcessOperation, names: &mut Scope) -> Template {
        let cx = self.cx;
        let item = self.vertex.uid.split('/').next().unwrap_or_default();
        let name = names.type_name(&format!("{item} process"));
        let operator = cx.rust.path(process.module, &process.path);
        cx.rust_values.borrow_mut().extend([process.input.clone(), process.output.clone()]);
        cx.rust_values.borrow_mut().extend(process.sides.iter().map(|side| Ty::Record(side.rows.schema.clone())));
        let (row, out) = (cx.row(self.input.schema), cx.row(self.output.schema));
        let keys: Vec<&Expr> = process.keys.iter().collect();
        let key = key_type(cx, &keys);
        let second = process.second.as_ref().zip(self.right);
        cx.rust_values.borrow_mut().extend(second.map(|(second, _)| second.input.clone()));
        let several = process.of.iter().chain(process.second.iter().filter_map(|second| second.of.as_ref()));
        cx.rust_values.borrow_mut().extend(several.flat_map(|of| &of.variants).map(|variant| variant.record.clone()));
        let keyed = second.and_then(|(second, rows)| Some((second.keyed.as_ref()?, rows, &second.input)));
        // Rows as they come: those of one stream, or of either of two.
        let incoming = match keyed {
            Some((_, rows, _)) => {
                let right = cx.row(rows.schema);
                quote!(Either<#row, #right>)
            }
            None => row,
        };
        let mut uses_params = false;
        let mut method = |name: &str,
                          output: TokenStream,
                          left: &dyn Fn(&mut Lowering<'a>) -> TokenStream,
                          right: Option<&dyn Fn(&mut Lowering<'a>) -> TokenStream>| {
            let Some((right, (_, rows, _))) = right.zip(keyed) else {
                let (method, uses) = self.row_method(name, ("In", self.input.schema), output, left);
                uses_params |= uses;
                return quote!(#[inline] #method);
            };
            let (left, of_left) = self.row_arm("Left", self.input.schema, left);
            let (right, of_right) = self.row_arm("Right", rows.schema, right);
            let uses = of_left || of_right;
            uses_params |= uses;
            let params = uses.then(|| quote!(let params = &self.params;));
            let name = ident(name);
            quote! {
                #[inline]
                fn #name(&self, row: &Self::In) -> Result<#output, EvalError> { #params Ok(match row { #left #right }) }
            }
        };
        let key_of = |keys: Vec<&'a Expr>| move |lowering: &mut Lowering<'a>| key_value(lowering, &keys);
        let of_right = keyed.map(|(keyed, _, _)| key_of(keyed.keys.iter().collect()));
        let key_method = method(
            "key",
            quote!(Self::Key),
            &key_of(keys),
            of_right.as_ref().map(|of| of as &dyn Fn(&mut Lowering<'a>) -> TokenStream),
        );
        let time_of = |time: Option<&'a Expr>| {
            move |lowering: &mut Lowering<'a>| {
                let Some(time) = time else { return quote!(None) };
                let value = lowering.lower_owned(time).tokens;
                if time.ty.is_optional() { value } else { quote!(Some(#value)) }
            }
        };
        let second_time = keyed.and_then(|(keyed, _, _)| keyed.time.as_ref());
        let time_method = (process.time.is_some() || second_time.is_some()).then(|| {
            let right = time_of(second_time);
            method("time", quote!(Option<Timestamp>), &time_of(process.time.as_ref()), Some(&right))
        });
        let input = match keyed {
            None => self.any_input(process, process.of.as_ref(), &process.input, self.input.schema),
            Some((keyed, rows, of_second)) => {
                let both = cx.rust.path(process.module, &keyed.path);
                let [first, second] = keyed.variants.each_ref().map(|variant| raw(variant));
                let left = self.process_input(&process.input, self.input.schema);
                let right = self.process_input(of_second, rows.schema);
                quote!(match row { Either::Left(row) => #both::#first(#left), Either::Right(row) => #both::#second(#right) })
            }
        };
        let (definition, value) = carrier(&name, uses_params);
        let origin = doc::origin(&self.vertex.origin);
        let items = quote! {
            #origin
            #definition
            impl Processing for #name {
                type Process = #operator;
                type In = #incoming;
                type Out = #out;
                type Key = #key;
                #key_method
                #time_method
                #[inline]
                fn input(&self, row: Self::In) -> Result<<Self::Process as Process>::Input, EvalError> {
                    Ok(#input)
                }
                #[inline]
                fn output(&self, row: <Self::Process as Process>::Output) -> Result<Self::Out, EvalError> {
                    Ok(Convert::convert(row))
                }
            }
        };
        let options = self.process_options(process, &operator);
        let side = self.late.as_ref().map(|stage| quote!(.with_side(#stage)));
        if process.takes_rows_anywhere() {
            return Template { operator: quote!(StatelessProcess::new(#options, #value) #side), items };
        }
        let ttl = self.ttl();
        let broadcast = second.filter(|(second, _)| second.keyed.is_none()).map(|(second, rows)| {
            let row = cx.row(rows.schema);
            let made = self.any_input(process, second.of.as_ref(), &second.input, rows.schema);
            quote!(.with_broadcast(|row: #row| Ok(#made)))
        });
        Template { operator: quote!(KeyedProcess::new(#options, #value) #side #ttl #broadcast), items }
    }

    /// `Either::Left(row) => ..`: an arm over the rows of one of two inputs, and whether it needs params.
    fn row_arm(
        &self,
        side: &str,
        schema: &'a Schema,
        body: impl FnOnce(&mut Lowering<'a>) -> TokenStream,
    ) -> (TokenStream, bool) {
        let mut lowering = over_row(self.cx, schema, &self.vertex.origin);
        let value = body(&mut lowering);
        let statements = lowering.take_statements();
        let row = unless_used(&quote!(#statements #value), ident("row"));
        let side = ident(side);
        (quote!(Either::#side(#row) => { #statements #value }), lowering.uses_params)
    }

    /// Its record or, of several streams, its enum of records.
    fn any_input(&self, process: &ProcessOperation, of: Option<&EnumInput>, record: &Ty, row: &Schema) -> TokenStream {
        let Some(of) = of else { return self.process_input(record, row) };
        let several = self.cx.rust.path(process.module, &of.path);
        let arms = of.variants.iter().map(|variant| {
            let (ours, theirs) = (self.cx.types.borrow_mut().field(row, &variant.column), raw(&variant.name));
            quote!(if let Some(row) = row.#ours { #several::#theirs(Convert::convert(row)) } else)
        });
        quote!(#(#arms)* { return Err(EvalError::new("a row of no input")) })
    }

    /// Its record, made of a row that is not needed any more.
    fn process_input(&self, record: &Ty, row: &Schema) -> TokenStream {
        let Some((module, of)) = self.cx.rust_type(record) else { return quote!(unreachable!()) };
        let Ty::Record(schema) = record else { return quote!(unreachable!()) };
        let theirs = self.cx.rust.path(module, &of.path);
        let fields = schema.fields.iter().zip(&of.members).map(|(field, member)| {
            let (ours, member) = (self.cx.types.borrow_mut().field(row, &field.name), raw(member));
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
