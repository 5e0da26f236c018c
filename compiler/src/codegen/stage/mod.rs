//! One template per operator: what it is in Rust, and the items that it needs beside the chain's function.

mod accumulators;
mod aggregate;
mod call_async;
mod combine;
mod dedup;
mod hybrid;
mod join;
mod over;
mod process;
mod row_wise;
mod sink;
mod source;
mod table;
mod top;

use millstream_runtime::graph::{Changelog, Emit, Exchange, Expr, JobVertex, Operation, Port, Schema, Side, VertexId};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::closure::{Rows, over_row};
use super::context::Context;
use super::expr::Lowering;
use super::literal;
use super::names::{Scope, ident};
use super::tokens::unless_used;

pub(super) use sink::sink;
pub(super) use source::{error_policy, source};

/// A vertex, as its template sees it.
pub(super) struct Stage<'a> {
    pub(super) cx: &'a Context<'a>,
    pub(super) vertex: &'a JobVertex,
    /// The rows of its (first) input.
    pub(super) input: Rows<'a>,
    /// The rows of the right side of a join.
    pub(super) right: Option<Rows<'a>>,
    /// What its input is distributed by, where it is.
    pub(super) route: Vec<&'a Expr>,
    /// The rows that it makes.
    pub(super) output: Rows<'a>,
    /// The stage that takes late rows.
    pub(super) late: Option<TokenStream>,
}

/// An operator in Rust.
pub(super) struct Template {
    /// The value that `cx.operator` takes.
    pub(super) operator: TokenStream,
    /// Structs and their traits.
    pub(super) items: TokenStream,
}

impl<'a> Stage<'a> {
    pub(super) fn new(cx: &'a Context<'a>, id: VertexId, late: Option<TokenStream>) -> Self {
        let edges = cx.job.inputs(id);
        let input = match edges.first() {
            Some((producer, edge)) => rows(cx, *producer, edge.port),
            None => rows(cx, id, Port::Main),
        };
        let route = match edges.first().map(|(_, edge)| &edge.exchange) {
            Some(Exchange::Hash(keys)) => keys.iter().collect(),
            _ => Vec::new(),
        };
        let right = edges.iter().find(|(_, edge)| edge.input == Side::Right.input());
        let right = right.map(|(producer, edge)| rows(cx, *producer, edge.port)).or_else(|| match &cx.job.vertex(id).operation {
            Operation::Join(join) => join.lookup().map(|lookup| Rows { schema: &lookup.schema, table: false, key: None }),
            _ => None,
        });
        Stage { cx, vertex: cx.job.vertex(id), input, right, route, output: rows(cx, id, Port::Main), late }
    }

    /// `.ttl(..)`, where state is forgotten after a time.
    fn ttl(&self) -> Option<TokenStream> {
        let micros = self.vertex.hints.ttl.filter(|ttl| *ttl != i64::MAX).map(literal::micros)?;
        Some(quote!(.ttl(#micros)))
    }

    /// `fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError>`: a function of one row, made of one expression, and
    /// whether it needs params.
    fn row_method(
        &self,
        name: &str,
        (row_type, schema): (&str, &'a Schema),
        output: TokenStream,
        body: impl FnOnce(&mut Lowering<'a>) -> TokenStream,
    ) -> (TokenStream, bool) {
        let mut lowering = over_row(self.cx, schema, &self.vertex.origin);
        let value = body(&mut lowering);
        let statements = lowering.take_statements();
        let (name, row_type) = (ident(name), ident(row_type));
        let row = unless_used(&quote!(#statements #value), ident("row"));
        let params = lowering.uses_params.then(|| quote!(let params = &self.params;));
        let method = quote! {
            fn #name(&self, #row: &Self::#row_type) -> Result<#output, EvalError> { #params #statements Ok(#value) }
        };
        (method, lowering.uses_params)
    }

    /// The operator of a vertex; None for those that leave rows as they are (a union, hints).
    pub(super) fn render(&self, names: &mut Scope) -> Option<Template> {
        let operator = match &self.vertex.operation {
            Operation::Filter(condition) => self.filter(condition),
            Operation::Project(columns) => self.project(columns),
            Operation::Explode { list, name } => self.explode(list, name),
            Operation::CallAsync(asked) => self.call_async(asked),
            Operation::Watermark(watermark) => self.watermark(watermark),
            Operation::Changes => self.changes(),
            Operation::Dedup(dedup) => upserts(dedup.emit, self.dedup(dedup)),
            Operation::Top(top) => upserts(top.emit, self.top(top)),
            Operation::Sort(sort) => self.sort(sort),
            Operation::Combine(combine) => self.combine(combine),
            Operation::Inserts => self.inserts(),
            Operation::KeyBy(key) => self.key_by(key),
            Operation::Final => self.last_rows(),
            Operation::Process(process) => return Some(self.process(process, names)),
            Operation::Over(over) => return Some(self.over(over, names)),
            Operation::Aggregate(aggregate) => {
                let Template { operator, items } = self.aggregate(aggregate, names);
                return Some(Template { operator: upserts(aggregate.emit, operator), items });
            }
            Operation::Join(join) => return Some(self.join(join, names)),
            Operation::Union | Operation::Errors | Operation::Rebalance | Operation::Broadcast | Operation::PartitionBy(_) => {
                return None;
            }
            Operation::Source(_) | Operation::Sink(_) => return None,
        };
        Some(Template { operator, items: TokenStream::new() })
    }
}

/// The struct that carries an operator's functions: its definition, and its value.
fn carrier(name: &Ident, uses_params: bool) -> (TokenStream, TokenStream) {
    match uses_params {
        true => (quote!(struct #name { params: Params }), quote!(#name { params: params.clone() })),
        false => (quote!(struct #name;), quote!(#name)),
    }
}

/// Around an operator that says new rows only.
fn upserts(emit: Emit, operator: TokenStream) -> TokenStream {
    if emit == Emit::Upserts { quote!(Upserts::new(#operator)) } else { operator }
}

/// The rows that an output of a vertex carries.
pub(super) fn rows<'a>(cx: &'a Context<'a>, id: VertexId, port: Port) -> Rows<'a> {
    let output = cx.job.output_type(id, port);
    let (table, key) = match &output.changelog {
        Changelog::Append => (false, None),
        Changelog::Table { key } => (true, key.as_deref()),
    };
    Rows { schema: &output.schema, table, key }
}
