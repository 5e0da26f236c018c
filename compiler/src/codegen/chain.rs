//! One module per chain: the function that builds it, from its end to its head, and what its operators need.

use std::collections::BTreeSet;

use millstream_runtime::graph::errors::error_stream;
use millstream_runtime::graph::{Chain, Exchange, ExecutionGraph, Expr, Operation, Port, ProcessOperation, VertexId};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::closure::by_reference;
use super::context::Context;
use super::keys::{key_type, key_value};
use super::names::{Scope, ident};
use super::stage::{self, Stage, rows};
use super::tokens::{mentions, uses_types};

struct Builder<'a> {
    cx: &'a Context<'a>,
    execution: &'a ExecutionGraph,
    chain: &'a Chain,
    /// Names of variables.
    variables: Scope,
    /// Names of structs.
    types: Scope,
    statements: TokenStream,
    items: TokenStream,
    /// Paths of the runtime to import.
    uses: BTreeSet<String>,
    /// The variable of each vertex that has been built.
    stages: Vec<(VertexId, Ident)>,
}

/// The module of a chain.
pub(super) fn render<'a>(cx: &'a Context<'a>, execution: &'a ExecutionGraph, chain: &'a Chain) -> TokenStream {
    let mut builder = Builder {
        cx,
        execution,
        chain,
        variables: Scope::with(&["cx", "params", "source", "config", "options"]),
        // Operators that structs of this chain could be called like.
        types: Scope::with(&[
            "Params",
            "WindowAggregate",
            "SessionAggregate",
            "TableAggregate",
            "FinalAggregate",
            "EarlyAggregate",
            "Over",
            "UnboundedJoin",
            "IntervalJoin",
            "WindowJoin",
            "TemporalJoin",
            "KeyedProcess",
            "Processing",
            "LookupInMemory",
            "LookupByKey",
            "CallAsync",
        ]),
        statements: TokenStream::new(),
        items: TokenStream::new(),
        uses: BTreeSet::new(),
        stages: Vec::new(),
    };
    let mut head = TokenStream::new();
    for vertex in chain.members.iter().rev() {
        head = builder.vertex(*vertex);
    }
    let Builder { statements, items, uses, .. } = builder;
    // They are constants of the runtime: paths that parse.
    let uses = uses.iter().filter_map(|path| path.parse::<TokenStream>().ok());
    let body = quote!(#statements #head);
    let params = mentions(&body, "params").then(|| quote!(let params = Params::read(cx.params())?;));
    let all = quote!(#body #items #params);
    let use_params = mentions(&all, "Params").then(|| {
        quote!(
            use crate::params::Params;
        )
    });
    let use_types = uses_types(&all);
    let title = format!(" The chain `{}`.", chain.name);
    quote! {
        #![doc = #title]
        use millstream::codegen::*;
        #(use #uses;)*
        #use_params
        #use_types

        #[doc = " Builds the chain of one subtask."]
        pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
            #params
            #body
        }

        #items
    }
}

impl<'a> Builder<'a> {
    /// Builds a vertex in front of its consumers. Returns the call that makes the whole chain, in case it is the head.
    fn vertex(&mut self, id: VertexId) -> TokenStream {
        let cx = self.cx;
        let vertex = cx.job.vertex(id);
        let (uid, name) = (&vertex.uid, &vertex.name);
        if let Operation::Sink(operation) = &vertex.operation {
            let stage = Stage::new(cx, id, None);
            let (before, sink, uses) = stage::sink(&stage, operation);
            self.uses.extend(uses);
            let variable = self.variable(id);
            self.statements.extend(quote!(#before let #variable = cx.sink(#uid, #name, #sink)?;));
            return self.input(&stage.input.rust(cx), &variable);
        }
        let next = self.consumers(id, Port::Main);
        if let Operation::Source(operation) = &vertex.operation {
            let errors = self.errors(id);
            let source = stage::source(&Stage::new(cx, id, None), operation, errors, &next, &mut self.types);
            self.items.extend(source.items);
            self.uses.extend(source.uses);
            return source.head;
        }
        let late = match &vertex.operation {
            Operation::Aggregate(aggregate) if aggregate.late_output => Some(self.consumers(id, Port::Late)),
            Operation::Dedup(dedup) if dedup.late_output => Some(self.consumers(id, Port::Late)),
            Operation::Top(top) if top.late_output => Some(self.consumers(id, Port::Late)),
            Operation::Sort(sort) if sort.late_output => Some(self.consumers(id, Port::Late)),
            Operation::Join(join) if join.times().is_some_and(|times| times.late_output) => Some(self.consumers(id, Port::Late)),
            Operation::Process(process) => self.sides(id, process),
            _ => None,
        };
        let stage = Stage::new(cx, id, late);
        let input = stage.input.rust(cx);
        let looks_up = matches!(&vertex.operation, Operation::Join(join) if join.lookup().is_some());
        let right = stage.right.filter(|_| !looks_up).map(|right| right.rust(cx));
        let variable = match stage.render(&mut self.types) {
            Some(template) => {
                self.items.extend(template.items);
                let errors = self.errors(id);
                let (operator, variable) = (template.operator, self.variable(id));
                self.statements.extend(match errors {
                    Some(errors) => quote! {
                        let #variable = cx.operator_with_errors(#uid, #name, #operator, #errors, #next)?;
                    },
                    None => quote! {
                        let #variable = cx.operator(#uid, #name, #operator, #next)?;
                    },
                });
                variable
            }
            // Rows go through as they are.
            None => {
                let variable = self.variable(id);
                self.statements.extend(quote!(let #variable = #next;));
                variable
            }
        };
        match right {
            Some(right) => self.two_inputs(&input, &right, &variable),
            None => self.input(&input, &variable),
        }
    }

    fn two_inputs(&self, left: &TokenStream, right: &TokenStream, stage: &Ident) -> TokenStream {
        let sides = self.execution.inputs(self.chain.id).map(|(_, edge)| match edge.input {
            0 => quote!(Side::Left),
            _ => quote!(Side::Right),
        });
        quote!(cx.two_inputs::<#left, #right, _>(&[#(#sides),*], #stage))
    }

    /// The stage that takes what a vertex cannot read or compute, where somebody wants it.
    fn errors(&mut self, id: VertexId) -> Option<TokenStream> {
        self.cx.job.outputs(id).iter().any(|(_, edge)| edge.port == Port::Error).then_some(())?;
        let next = self.consumers(id, Port::Error);
        let vertex = self.cx.job.vertex(id);
        let (uid, name) = (&vertex.uid, &vertex.name);
        let schema = &error_stream().schema;
        let fields = schema.fields.iter().map(|field| {
            let to = self.cx.types.borrow_mut().field(schema, &field.name);
            let from = ident(&field.name);
            quote!(#to: error.#from)
        });
        let fields = quote!(#(#fields),*);
        let row = self.cx.row(schema);
        let variable = self.variables.value("errors");
        self.statements.extend(quote! {
            let #variable = cx.errors(#uid, #name, |error: ErrorRow| #row { #fields }, #next)?;
        });
        Some(quote!(#variable))
    }

    /// The stage of the side outputs of an operator in Rust, where somebody wants one.
    fn sides(&mut self, id: VertexId, process: &'a ProcessOperation) -> Option<TokenStream> {
        let wanted = |number: usize| self.has_output(id, Port::Side(number));
        if !(0..process.sides.len()).any(wanted) {
            return None;
        }
        let mut stages = Vec::new();
        for (number, side) in process.sides.iter().enumerate() {
            stages.push(match self.consumers(id, Port::Side(number)) {
                next if self.has_output(id, Port::Side(number)) => {
                    let row = self.cx.row(&side.rows.schema);
                    quote!(Converted::<_, #row>::new(#next))
                }
                nobody => nobody,
            });
        }
        if process.sides.iter().all(|side| side.variant.is_none()) {
            return stages.pop();
        }
        let each = stages.into_iter().rev().fold(quote!(Discard), |others, stage| quote!(EitherStage::new(#stage, #others)));
        Some(quote!(SideStages::of(#each)))
    }

    fn has_output(&self, id: VertexId, port: Port) -> bool {
        self.cx.job.outputs(id).iter().any(|(_, edge)| edge.port == port)
    }

    fn input(&self, row: &TokenStream, stage: &Ident) -> TokenStream {
        quote!(cx.input::<#row, _>(#stage))
    }

    fn variable(&mut self, id: VertexId) -> Ident {
        let uid = &self.cx.job.vertex(id).uid;
        let name = match uid.split_once('/') {
            Some((item, rest)) if item != "sink" => rest,
            _ => uid.as_str(),
        };
        let variable = self.variables.value(name);
        self.stages.push((id, variable.clone()));
        variable
    }

    /// The stage that takes the rows of an output: a following operator, an exchange end, or several of them.
    fn consumers(&mut self, id: VertexId, port: Port) -> TokenStream {
        let mut stages: Vec<TokenStream> = Vec::new();
        let members = self.chain.links.iter().filter(|(producer, link, _)| *producer == id && *link == port);
        for (_, _, consumer) in members {
            stages.extend(self.stages.iter().find(|(built, _)| built == consumer).map(|(_, stage)| quote!(#stage)));
        }
        let edges: Vec<_> = self
            .execution
            .outputs(self.chain.id)
            .filter(|(_, edge)| edge.producer == id && edge.port == port)
            .map(|(number, edge)| (number, edge.to, &edge.exchange))
            .collect();
        for (number, to, exchange) in edges {
            let target = &self.execution.chain(to).name;
            let variable = self.variables.value(&format!("to {target}"));
            let end = self.exchange(id, port, number, exchange);
            let unaligned = self.cx.job.settings.checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.unaligned.is_some());
            if unaligned && !matches!(exchange, Exchange::Broadcast) {
                let rows = rows(self.cx, id, port);
                self.cx.types.borrow_mut().keep_in_state(rows.schema);
                let (rust, number) = (rows.rust(self.cx), proc_macro2::Literal::usize_unsuffixed(number));
                self.statements.extend(quote!(cx.in_flight::<#rust>(#number);));
            }
            self.statements.extend(quote!(let #variable = #end?;));
            stages.push(quote!(#variable));
        }
        let Some(last) = stages.pop() else { return quote!(Discard) };
        stages.into_iter().rev().fold(last, |rest, stage| quote!(FanOut::new(#stage, #rest)))
    }

    fn exchange(&self, id: VertexId, port: Port, number: usize, exchange: &'a Exchange) -> TokenStream {
        let cx = self.cx;
        let rows = rows(cx, id, port);
        let rust = rows.rust(cx);
        let number = proc_macro2::Literal::usize_unsuffixed(number);
        match exchange {
            Exchange::Forward => quote!(cx.forward::<#rust>(#number)),
            Exchange::Rebalance => quote!(cx.rebalance::<#rust>(#number)),
            Exchange::Broadcast => quote!(cx.broadcast::<#rust>(#number)),
            Exchange::Hash(keys) => {
                let keys: Vec<&Expr> = keys.iter().collect();
                let key = key_type(cx, &keys);
                let origin = &cx.job.vertex(id).origin;
                let closure = by_reference(cx, rows, origin, |lowering| key_value(lowering, &keys));
                quote!(cx.hash::<#rust, #key, _>(#number, #closure))
            }
        }
    }
}
