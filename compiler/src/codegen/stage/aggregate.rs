//! `aggregate`: keys, accumulators and output row, as an `Aggregation`, and the operator that drives it.

use millstream_runtime::graph::{AggregateOperation, Emit, Expr, Window, WindowTime};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::accumulators::{Accumulator, accumulator_struct};
use super::{Stage, Template, carrier};
use crate::codegen::doc;
use crate::codegen::expr::{Bindings, Lowering, adapt};
use crate::codegen::keys::{key_parts, key_type, key_value};
use crate::codegen::literal::micros;
use crate::codegen::names::{Scope, ident};
use crate::codegen::tokens::unless_used;

impl<'a> Stage<'a> {
    pub(super) fn aggregate(&self, aggregate: &'a AggregateOperation, names: &mut Scope) -> Template {
        let item = self.vertex.uid.split('/').next().unwrap_or_default();
        let name = names.type_name(&format!("{item} aggregate"));
        let acc = names.type_name(&format!("{item} acc"));
        let accumulators = self.accumulators(aggregate);
        let (methods, uses_params) = self.methods(aggregate, &accumulators);
        let keys: Vec<&Expr> = aggregate.keys.iter().map(|(_, key)| key).collect();
        let (row, out) = (self.cx.row(self.input.schema), self.cx.row(self.output.schema));
        let key = key_type(self.cx, &keys);
        let origin = doc::origin(&self.vertex.origin);
        let (acc_type, acc_struct) = accumulator_struct(&acc, &accumulators);
        let (definition, value) = carrier(&name, uses_params);
        let items = quote! {
            #origin
            #definition
            impl Aggregation for #name {
                type In = #row;
                type Key = #key;
                type Acc = #acc_type;
                type Out = #out;
                #methods
            }
            #acc_struct
        };
        Template { operator: self.aggregate_operator(aggregate, value), items }
    }

    /// The functions of the trait, and whether one of them needs params.
    fn methods(&self, aggregate: &'a AggregateOperation, accumulators: &[Accumulator<'a>]) -> (TokenStream, bool) {
        let mut methods = TokenStream::new();
        let keys: Vec<&Expr> = aggregate.keys.iter().map(|(_, key)| key).collect();
        let rows = ("In", self.input.schema);
        let (key, mut any_params) = self.row_method("key", rows, quote!(Self::Key), |lowering| key_value(lowering, &keys));
        methods.extend(key);

        if let Some(WindowTime::Event(time)) = aggregate.window.as_ref().and_then(window_time) {
            let of_time = |lowering: &mut Lowering<'a>| lowering.lower_owned(time).tokens;
            let (time, uses_params) = self.row_method("time", rows, quote!(Timestamp), of_time);
            methods.extend(time);
            any_params |= uses_params;
        }
        for method in ["add", "retract"] {
            if method == "retract" && !self.input.table {
                continue;
            }
            let (body, uses_params) = self.accumulate(accumulators, method);
            any_params |= uses_params;
            let params = uses_params.then(|| quote!(let params = &self.params;));
            let (name, acc, row) = (ident(method), unless_used(&body, ident("acc")), unless_used(&body, ident("row")));
            methods.extend(quote! {
                fn #name(&self, #acc: &mut Self::Acc, #row: &Self::In) -> Result<(), EvalError> { #params #body Ok(()) }
            });
        }
        if merges(aggregate) {
            methods.extend(self.merge_method(accumulators));
        }
        let (output, uses_params) = self.output_method(aggregate, accumulators);
        methods.extend(output);
        (methods, any_params | uses_params)
    }

    pub(super) fn merge_method(&self, accumulators: &[Accumulator<'a>]) -> TokenStream {
        let merges: TokenStream =
            accumulators.iter().map(|Accumulator { name, .. }| quote!(acc.#name.merge(&other.#name)?;)).collect();
        let (acc, other) = (unless_used(&merges, ident("acc")), unless_used(&merges, ident("other")));
        quote! {
            fn merge(&self, #acc: &mut Self::Acc, #other: &Self::Acc) -> Result<(), EvalError> { #merges Ok(()) }
        }
    }

    fn output_method(&self, aggregate: &'a AggregateOperation, accumulators: &[Accumulator<'a>]) -> (TokenStream, bool) {
        let keys: Vec<&Expr> = aggregate.keys.iter().map(|(_, key)| key).collect();
        let mut lowering = Lowering::new(self.cx, &self.vertex.origin, Bindings::default());
        let (results, calls) = self.results(accumulators, &mut lowering);
        lowering.bind_group(key_parts(self.cx, &keys, &ident("key")), calls);
        let schema = self.output.schema;
        let fields: Vec<TokenStream> = aggregate
            .output
            .iter()
            .map(|(column, expr)| {
                let wanted = schema.field(column).map_or(&expr.ty, |field| &field.ty);
                let value = lowering.lower_owned(expr);
                let tokens = adapt(value, &expr.ty, wanted).tokens;
                let field: Ident = self.cx.types.borrow_mut().field(schema, column);
                if field == tokens.to_string() { quote!(#field) } else { quote!(#field: #tokens) }
            })
            .collect();
        let statements = lowering.take_statements();
        let row = self.cx.row(schema);
        let body = quote!(#results #statements Ok(#row { #(#fields),* }));
        let params = lowering.uses_params.then(|| quote!(let params = &self.params;));
        let [key, window, acc] = ["key", "window", "acc"].map(|name| unless_used(&body, ident(name)));
        let method = quote! {
            fn output(&self, #key: &Self::Key, #window: WindowBounds, #acc: &Self::Acc) -> Result<Self::Out, EvalError> {
                #params
                #body
            }
        };
        (method, lowering.uses_params)
    }

    fn aggregate_operator(&self, aggregate: &AggregateOperation, value: TokenStream) -> TokenStream {
        let Some(window) = &aggregate.window else {
            let operator = if aggregate.emit == Emit::Final { quote!(FinalAggregate) } else { quote!(TableAggregate) };
            let new = if self.input.table { quote!(over_changes) } else { quote!(new) };
            let ttl = self.ttl().filter(|_| aggregate.emit.is_table());
            return quote!(#operator::#new(#value)#ttl);
        };
        let operator = match aggregate.every {
            Some(every) => early(window, &value, every),
            None => windowed(window, &value),
        };
        let lateness = (aggregate.allowed_lateness > 0).then(|| {
            let lateness = micros(aggregate.allowed_lateness);
            quote!(.allow_late(#lateness))
        });
        let late = self.late.as_ref().map(|stage| quote!(.with_late(#stage)));
        quote!(#operator #lateness #late)
    }
}

/// How a window cuts time, where that does not depend on the rows.
pub(super) fn assigner(window: &Window) -> Option<TokenStream> {
    Some(match window {
        Window::Tumbling { size, offset, .. } => {
            let (size, offset) = (micros(*size), micros(*offset));
            quote!(Tumbling::new(#size, #offset))
        }
        Window::Sliding { size, step, offset, .. } => {
            let (size, step, offset) = (micros(*size), micros(*step), micros(*offset));
            quote!(Sliding::new(#size, #step, #offset))
        }
        Window::Cumulative { max, step, offset, .. } => {
            let (max, step, offset) = (micros(*max), micros(*step), micros(*offset));
            quote!(Cumulative::new(#max, #step, #offset))
        }
        Window::Calendar { unit, zone, .. } => {
            let unit = ident(&format!("{unit:?}"));
            quote!(Calendar::new(CalendarUnit::#unit, #zone)?)
        }
        Window::Global => quote!(Global),
        Window::Session { .. } | Window::Count { .. } | Window::SlidingCount { .. } => return None,
    })
}

/// The operator of a window that shows early results.
fn early(window: &Window, value: &TokenStream, every: i64) -> TokenStream {
    let (assigner, every) = (assigner(window), micros(every));
    let operator = quote!(EarlyAggregate::new(#assigner, #value, #every));
    let clock = by_the_clock(window).then(|| quote!(.in_processing_time()));
    quote!(#operator #clock)
}

/// The operator of a window, around what is computed in it.
pub(super) fn windowed(window: &Window, value: &TokenStream) -> TokenStream {
    let operator = match window {
        Window::Tumbling { .. }
        | Window::Sliding { .. }
        | Window::Cumulative { .. }
        | Window::Calendar { .. }
        | Window::Global => {
            let assigner = assigner(window);
            quote!(WindowAggregate::new(#assigner, #value))
        }
        Window::Session { gap, .. } => {
            let gap = micros(*gap);
            quote!(SessionAggregate::new(#gap, #value))
        }
        Window::Count { size } => return quote!(CountWindow::new(#size, #value)),
        Window::SlidingCount { size, step } => return quote!(SlidingCountWindow::new(#size, #step, #value)),
    };
    let clock = by_the_clock(window).then(|| quote!(.in_processing_time()));
    quote!(#operator #clock)
}

/// Whether rows are placed by the clock on the wall. `global` asks for no time at all, so that rows need none.
fn by_the_clock(window: &Window) -> bool {
    matches!(window, Window::Global) || matches!(window_time(window), Some(WindowTime::Processing))
}

pub(super) fn window_time(window: &Window) -> Option<&WindowTime> {
    match window {
        Window::Tumbling { time, .. }
        | Window::Sliding { time, .. }
        | Window::Session { time, .. }
        | Window::Cumulative { time, .. }
        | Window::Calendar { time, .. } => Some(time),
        Window::Count { .. } | Window::SlidingCount { .. } | Window::Global => None,
    }
}

/// Whether accumulators of several panes come together.
fn merges(aggregate: &AggregateOperation) -> bool {
    matches!(
        aggregate.window,
        Some(Window::Sliding { .. } | Window::Cumulative { .. } | Window::Session { .. } | Window::SlidingCount { .. })
    )
}
