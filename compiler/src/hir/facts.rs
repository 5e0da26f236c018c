//! What lowering learns of places in the text, for an editor: types of values, rows that operators take, and what names stand for.
//!
//! It is kept only where it is asked for; `check` and `run` go without. Invariant: asking for it changes no diagnostic.

use std::collections::BTreeMap;

use millstream_runtime::aggregates::AggregateSpec;
use millstream_runtime::connectors::ConnectorSpec;
use millstream_runtime::graph::{CastMode, Expr, ExprKind, StreamType, Ty, Waits};

use super::context::Context;
use super::flow::Flow;
use super::resolve::scope::Scope;
use super::types::Typer;
use crate::source::Span;
use crate::syntax::ast;

/// What is known of a text beside its program.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Typed values, an inner one before the one around it.
    pub values: Vec<Value>,
    /// What each operator takes, in the order of the text within a pipeline.
    pub inputs: Vec<Input>,
    /// Sources, streams and lookups by name.
    pub streams: BTreeMap<String, Rows>,
    /// Records and enums by name.
    pub types: BTreeMap<String, Ty>,
    pub params: BTreeMap<String, Ty>,
    /// The user's own functions, those of Rust files included.
    pub functions: BTreeMap<String, FunctionFacts>,
    /// Aggregates of Rust files, and where they are named.
    pub aggregates: Vec<(&'static AggregateSpec, Span)>,
    /// Connectors of Rust files, and where they are named.
    pub connectors: Vec<(&'static ConnectorSpec, Span)>,
    /// Operators of Rust files.
    pub operators: BTreeMap<String, OperatorFacts>,
    /// The names that the innermost expression at the cursor sees.
    pub seen: Option<Seen>,
    /// A byte of the file that was opened, where a name is being written.
    cursor: Option<u32>,
}

/// A value and its type.
#[derive(Clone, Debug)]
pub struct Value {
    pub span: Span,
    pub ty: Ty,
    pub kind: ValueKind,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    Column,
    Param,
    /// A parameter of a `fn`.
    Local,
    Other,
}

/// The rows that come to an operator.
#[derive(Clone, Debug)]
pub struct Input {
    /// The operator.
    pub span: Span,
    pub rows: Rows,
}

/// What is known of rows.
#[derive(Clone, Debug)]
pub struct Rows {
    pub ty: StreamType,
    /// As expressions see them: required where a filter has seen to it.
    pub columns: Vec<(String, Ty)>,
    /// Names for the columns of one side of a join.
    pub sides: Vec<(String, Vec<(String, Ty)>)>,
    /// A mistake lies behind, so there may be more columns.
    pub unknown: bool,
}

/// How a function of the user's own is called.
#[derive(Clone, Debug)]
pub struct FunctionFacts {
    pub params: Vec<(String, Ty)>,
    pub result: Ty,
    pub waits: Option<Waits>,
}

/// How an operator of a Rust file is used.
#[derive(Clone, Debug)]
pub struct OperatorFacts {
    /// Its options with their types.
    pub options: Vec<(String, Ty)>,
    /// What is not given has a default.
    pub defaults: bool,
    pub output: Ty,
    /// Its struct.
    pub span: Span,
}

/// The names that an expression sees.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Columns, or parameters of a `fn`.
    pub columns: Vec<(String, Ty)>,
    pub sides: Vec<(String, Vec<(String, Ty)>)>,
    pub params: bool,
    /// It stands in the block of an aggregate.
    pub block: bool,
    /// Earlier stages of a hybrid source, which can be asked how they ended.
    pub stages: Vec<String>,
}

impl Rows {
    fn of(flow: &Flow) -> Rows {
        let ty = |column: &str| flow.column_type(column).unwrap_or(Ty::Error);
        let hidden = |name: &str| flow.hidden.iter().any(|hidden| hidden.column == name);
        let columns = flow.fields().iter().filter(|field| !hidden(&field.name) && !field.name.contains('.'));
        let side = |alias: &super::flow::Alias| {
            let columns = alias.columns.iter().map(|(own, column)| (own.clone(), ty(column))).collect();
            (alias.name.clone(), columns)
        };
        Rows {
            ty: flow.ty.clone(),
            columns: columns.map(|field| (field.name.clone(), ty(&field.name))).collect(),
            sides: flow.aliases.iter().map(side).collect(),
            unknown: flow.unknown,
        }
    }
}

impl Facts {
    /// Facts of a text in which a name is being written at this byte of the file that is opened.
    pub fn at(cursor: Option<u32>) -> Facts {
        Facts { cursor, ..Facts::default() }
    }

    /// An operator takes these rows.
    pub(super) fn input(&mut self, span: Span, flow: &Flow) {
        self.inputs.push(Input { span, rows: Rows::of(flow) });
    }

    /// What the whole text defines.
    pub(super) fn names<'a>(&mut self, cx: &Context<'_>, flows: impl Iterator<Item = (&'a &'a str, &'a Flow)>) {
        self.streams = flows.map(|(name, flow)| ((*name).to_owned(), Rows::of(flow))).collect();
        self.types = cx.records.iter().map(|(name, ty)| ((*name).to_owned(), ty.clone())).collect();
        self.params = cx.params.iter().map(|(name, ty)| ((*name).to_owned(), ty.clone())).collect();
        let functions = cx.functions.iter().map(|(name, of)| {
            let facts = FunctionFacts { params: of.params.clone(), result: of.result.clone(), waits: of.waits };
            ((*name).to_owned(), facts)
        });
        self.functions = functions.collect();
        self.aggregates = cx.aggregates.values().map(|own| (own.spec, own.span)).collect();
        self.connectors = cx.connectors.values().copied().collect();
        let operators = cx.rust_operators.iter().map(|(name, of)| {
            let options = of.fields.clone();
            let facts = OperatorFacts { options, defaults: of.defaults, output: of.output.clone(), span: of.item.name.span };
            ((*name).to_owned(), facts)
        });
        self.operators = operators.collect();
    }
}

impl<'a> Typer<'_, 'a> {
    /// Keeps what an expression has turned out to be.
    pub(super) fn note(&mut self, expr: &'a ast::Expr, typed: &Expr) {
        let main = self.cx.items.main;
        let seen = match &self.cx.facts {
            Some(Facts { cursor: Some(cursor), seen, .. }) => {
                let span = expr.span;
                let inside = span.file == main && (span.start..=span.end).contains(cursor);
                // The innermost comes first.
                (inside && seen.is_none()).then(|| self.seen())
            }
            _ => None,
        };
        let Some(facts) = &mut self.cx.facts else { return };
        facts.seen = seen.or(facts.seen.take());
        let kind = match &typed.kind {
            ExprKind::Cast(CastMode::NotNull, inner) => kind(&inner.kind),
            own => kind(own),
        };
        facts.values.push(Value { span: expr.span, ty: typed.ty.clone(), kind });
    }

    fn seen(&self) -> Seen {
        let mut seen = Seen::default();
        let of_rows = |seen: &mut Seen, flow: &Flow| {
            let rows = Rows::of(flow);
            seen.columns.extend(rows.columns);
            seen.sides = rows.sides;
            seen.params = true;
        };
        match &self.scope {
            Scope::Constant(_) => {}
            Scope::Job => {
                seen.params = true;
                let stages = self.cx.stages.as_ref().map(|stages| stages.names[..stages.at].to_vec());
                seen.stages = stages.into_iter().flatten().map(str::to_owned).collect();
            }
            Scope::Row(flow) => of_rows(&mut seen, flow),
            Scope::Function(params) => seen.columns = params.to_vec(),
            Scope::Output(output) => {
                let keys = output.keys.iter().filter_map(|key| Some((key.name.clone()?, key.value.ty.clone())));
                seen.columns = keys.collect();
                seen.params = true;
                seen.block = true;
            }
        }
        seen
    }
}

fn kind(kind: &ExprKind) -> ValueKind {
    match kind {
        ExprKind::Column(_) | ExprKind::Key(_) => ValueKind::Column,
        ExprKind::Param(_) => ValueKind::Param,
        ExprKind::Local(_) => ValueKind::Local,
        _ => ValueKind::Other,
    }
}
