//! The accumulators of an aggregate: one field per call.

use millstream_runtime::aggregates;
use millstream_runtime::graph::{AggregateCall, AggregateOperation, OverOperation, Ty};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::Stage;
use crate::codegen::closure::over_row;
use crate::codegen::expr::{Lowering, Value, place};
use crate::codegen::names::{Scope, ident};
use crate::codegen::tokens::{can_fail, mentions};

/// One call of an aggregate function.
pub(super) struct Accumulator<'a> {
    pub(super) call: &'a AggregateCall,
    /// The field of the accumulator struct, and the variable of its result.
    pub(super) name: Ident,
    /// `Max<i64>`
    pub(super) rust: TokenStream,
    /// Whether it only counts rows: it takes no value.
    counts_rows: bool,
    /// Whether null is a value to it: it looks at rows by their number.
    takes_null: bool,
}

impl<'a> Stage<'a> {
    /// The accumulators of all calls, by their names in the state.
    pub(super) fn accumulators(&self, aggregate: &'a AggregateOperation) -> Vec<Accumulator<'a>> {
        let mut names = Scope::with(&["key", "window", "acc", "params", "row", "other", "self"]);
        aggregate
            .calls
            .iter()
            .map(|call| {
                let name = names.value(&call.state);
                let counts_rows = call.function == "count" && !call.distinct;
                let rust = self.accumulator_type(call, counts_rows);
                Accumulator { call, name, rust, counts_rows, takes_null: false }
            })
            .collect()
    }

    /// The accumulators of calls with `over (..)`.
    pub(super) fn analytic_accumulators(&self, over: &'a OverOperation) -> Vec<Accumulator<'a>> {
        let mut names = Scope::with(&["acc", "params", "row", "other", "self"]);
        over.calls
            .iter()
            .map(|(_, analytic)| {
                let call = &analytic.call;
                let takes_null = matches!(call.function, "lag" | "lead");
                let counts_rows = call.function == "row_number" || (call.function == "count" && !call.distinct);
                let rust = match call.args.first() {
                    Some(arg) if takes_null => {
                        let (name, rows) = (self.accumulator_name(call), Literal::u64_unsuffixed(analytic.back));
                        let mut types = self.cx.types.borrow_mut();
                        types.keep_type_in_state(&arg.ty);
                        let value = types.owned(arg.ty.required());
                        quote!(aggregates::#name<#value, #rows>)
                    }
                    _ => self.accumulator_type(call, counts_rows),
                };
                Accumulator { call, name: names.value(&call.state), rust, counts_rows, takes_null }
            })
            .collect()
    }

    fn accumulator_name(&self, call: &AggregateCall) -> Ident {
        let of = |spec: &aggregates::AggregateSpec| if self.input.table { spec.over_table } else { spec.accumulator };
        let spec = aggregates::find(call.function).or_else(|| aggregates::find_analytic(call.function));
        ident(spec.map_or(call.function, of))
    }

    fn accumulator_type(&self, call: &AggregateCall, counts_rows: bool) -> TokenStream {
        let name = self.accumulator_name(call);
        let mut types = self.cx.types.borrow_mut();
        let arguments: Vec<TokenStream> = call
            .args
            .iter()
            .map(|arg| {
                types.keep_type_in_state(&arg.ty);
                types.owned(arg.ty.required())
            })
            .collect();
        let own = self.cx.own_aggregate(call.function).map(|(own, of)| {
            let mut crossing = self.cx.rust_values.borrow_mut();
            crossing.extend(call.args.iter().map(|arg| arg.ty.required().clone()));
            crossing.push(of.result.clone());
            let result = types.owned(&of.result);
            let input = if let [one] = &arguments[..] { quote!(#one) } else { quote!((#(#arguments),*)) };
            quote!(aggregates::OwnAggregate<#own, #input, #result>)
        });
        let plain = if let Some(own) = own {
            own
        } else if counts_rows || arguments.is_empty() {
            quote!(aggregates::#name)
        } else {
            quote!(aggregates::#name<#(#arguments),*>)
        };
        match (&arguments[..], call.distinct) {
            ([one], true) => quote!(aggregates::Distinct<#plain, #one>),
            (_, true) => quote!(aggregates::Distinct<#plain, (#(#arguments),*)>),
            _ => plain,
        }
    }

    /// The body of `add` or `retract`. What can fail is computed before the first accumulator changes, so that a row is
    /// counted in all or in none.
    pub(super) fn accumulate(&self, accumulators: &[Accumulator<'a>], method: &str) -> (TokenStream, bool) {
        let mut lowering = over_row(self.cx, self.input.schema, &self.vertex.origin);
        let method = ident(method);
        let (mut before, mut own, mut after) = (Vec::new(), Vec::new(), Vec::new());
        for accumulator in accumulators {
            let (name, call) = (&accumulator.name, accumulator.call);
            let condition = call.filter.as_ref().map(|filter| lowering.condition(filter).tokens);
            let add = |value: TokenStream| quote!(acc.#name.#method(#value)?;);
            let argument = argument(&mut lowering, accumulator);
            let statement = match argument {
                Argument::None => add(quote!(())),
                Argument::If(test) => {
                    let add = add(quote!(()));
                    quote!(if #test { #add })
                }
                Argument::Value(value) if !can_fail(&value) => add(value),
                Argument::Optional(value) if !can_fail(&value) => {
                    let add = add(quote!(value));
                    quote!(if let Some(value) = #value { #add })
                }
                // Computed first; with a condition only where that holds.
                Argument::Value(value) => {
                    let value = if condition.is_some() { quote!(Some(#value)) } else { value };
                    before.push(conditional(name, &condition, value));
                    if condition.is_some() { some(add(quote!(value)), name) } else { add(quote!(#name)) }
                }
                Argument::Optional(value) => {
                    before.push(conditional(name, &condition, value));
                    some(add(quote!(value)), name)
                }
            };
            let computed = mentions(&statement, &name.to_string());
            // The user's own may refuse a value: before the others have taken theirs.
            let place = if self.cx.own_aggregate(call.function).is_some() { &mut own } else { &mut after };
            place.push(match condition.filter(|_| !computed) {
                Some(condition) if can_fail(&condition) => {
                    before.push(quote!(let #name = #condition;));
                    quote!(if #name { #statement })
                }
                Some(condition) => quote!(if #condition { #statement }),
                None => statement,
            });
        }
        let statements = lowering.take_statements();
        (quote!(#statements #(#before)* #(#own)* #(#after)*), lowering.uses_params)
    }

    /// `let mean = acc.mean.finish()?;` for each call, and how the output columns name the results.
    pub(super) fn results(&self, accumulators: &[Accumulator<'a>], lowering: &mut Lowering<'a>) -> (TokenStream, Vec<Value>) {
        let (mut statements, mut values) = (TokenStream::new(), Vec::new());
        for accumulator in accumulators {
            let (name, call) = (&accumulator.name, accumulator.call);
            let (text, place_of) = lowering.place(&call.origin);
            let method = if call.ty.is_optional() { ident("at") } else { ident("required") };
            let value = quote!(acc.#name.finish().#method(#text, #place_of)?);
            statements.extend(quote!(let #name = #value;));
            values.push(place(quote!(#name), &call.ty));
        }
        (statements, values)
    }
}

/// The type that holds all accumulators of a key, and its definition.
pub(super) fn accumulator_struct(name: &Ident, accumulators: &[Accumulator<'_>]) -> (TokenStream, TokenStream) {
    if accumulators.is_empty() {
        return (quote!(()), TokenStream::new());
    }
    let fields = accumulators.iter().map(|Accumulator { name, rust, .. }| quote!(#name: #rust));
    (quote!(#name), quote!(#[derive(Clone, Default, State)] pub struct #name { #(#fields),* }))
}

/// What an accumulator is given for a row.
enum Argument {
    /// Nothing: the row counts.
    None,
    /// Nothing, where this holds.
    If(TokenStream),
    Value(TokenStream),
    /// Null does not count.
    Optional(TokenStream),
}

fn argument<'a>(lowering: &mut Lowering<'a>, accumulator: &Accumulator<'a>) -> Argument {
    let args = &accumulator.call.args;
    if accumulator.counts_rows {
        return match args.first().filter(|arg| arg.ty.is_optional()) {
            Some(arg) => {
                let operand = lowering.lower(arg).operand();
                Argument::If(quote!(#operand.is_some()))
            }
            None => Argument::None,
        };
    }
    match &args[..] {
        [] => Argument::None,
        [arg] => {
            let value = lowering.lower_owned(arg).tokens;
            if accumulator.takes_null {
                return Argument::Value(if arg.ty.is_optional() { value } else { quote!(Some(#value)) });
            }
            if arg.ty.is_optional() { Argument::Optional(value) } else { Argument::Value(value) }
        }
        args => {
            let operands: Vec<(Value, Ty)> = args.iter().map(|arg| (lowering.lower_owned(arg), arg.ty.clone())).collect();
            let optional = args.iter().any(|arg| arg.ty.is_optional());
            let tuple = lowering.tuple(operands);
            if optional { Argument::Optional(tuple) } else { Argument::Value(tuple) }
        }
    }
}

fn conditional(name: &Ident, condition: &Option<TokenStream>, value: TokenStream) -> TokenStream {
    match condition {
        Some(condition) => quote!(let #name = if #condition { #value } else { None };),
        None => quote!(let #name = #value;),
    }
}

fn some(add: TokenStream, name: &Ident) -> TokenStream {
    quote!(if let Some(value) = #name { #add })
}
