//! The end of a pipeline: every column has a name of its own.

use millstream_runtime::graph::{Changelog, Field, Operation, Port, Schema, StreamType};

use crate::hir::attributes::Attributes;
use crate::hir::errors::joins;
use crate::hir::flow::Flow;
use crate::hir::lower::{Lowering, NewNode, Place};
use crate::hir::resolve::scope::Scope;
use crate::hir::types::Typer;
use crate::source::Span;

/// Takes columns away that joins brought in under a name that was taken. Where they hold something that no other column
/// does, that is a mistake.
pub fn named_columns(lowering: &mut Lowering<'_>, place: &Place, span: Span, mut flow: Flow) -> Flow {
    flow.aliases.clear();
    if flow.hidden.is_empty() || flow.unknown {
        return flow;
    }
    for hidden in flow.hidden.iter().filter(|hidden| !hidden.spare) {
        lowering.cx.report(joins::two_of_a_name(span, hidden));
    }
    let is_hidden = |name: &str| flow.hidden.iter().any(|hidden| hidden.column == name);
    let kept: Vec<&Field> = flow.fields().iter().filter(|field| !is_hidden(&field.name)).collect();
    let typer = Typer::new(&mut lowering.cx, Scope::Row(&flow));
    let columns = kept.iter().map(|field| (field.name.clone(), typer.column(&flow, field, span))).collect();
    let twin = |name: &String| match flow.hidden.iter().find(|hidden| hidden.column == *name) {
        Some(hidden) => hidden.twin.clone(),
        None => Some(name.clone()),
    };
    let changelog = match &flow.ty.changelog {
        Changelog::Append => Changelog::Append,
        Changelog::Table { key } => {
            Changelog::Table { key: key.as_ref().and_then(|key| key.iter().map(twin).collect::<Option<Vec<_>>>()) }
        }
    };
    let columns: Vec<(String, millstream_runtime::graph::Expr)> = columns;
    let fields =
        kept.iter().zip(&columns).map(|(field, (_, value))| Field { ty: value.ty.clone(), ..(*field).clone() }).collect();
    let time = flow.ty.time.clone().filter(|time| !is_hidden(&time.column));
    let time_dropped = flow.time_dropped || (flow.ty.time.is_some() && time.is_none());
    let output = StreamType { schema: Schema::anonymous(fields), changelog, time };
    let node = lowering.add(NewNode {
        place,
        word: "columns",
        attributes: Attributes::default(),
        operation: Operation::Project(columns),
        inputs: vec![(flow.node, flow.port)],
        output: output.clone(),
        span,
    });
    flow.new_rows();
    Flow { node, port: Port::Main, ty: output, time_dropped, ..flow }
}

/// A name for a column that no text can mean: `sum over 1`.
pub fn fresh(schema: &Schema, what: &str) -> String {
    (1..).map(|number| format!("{what} {number}")).find(|name| schema.field(name).is_none()).unwrap_or_default()
}
