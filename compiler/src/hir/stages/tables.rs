//! `final` and `changes`: from a table to a stream.

use millstream_runtime::graph::{Changelog, Field, Operation, StreamType, Ty};

use super::At;
use crate::hir::errors::{names, tables};
use crate::hir::flow::Flow;

/// The rows that stand when the input has ended.
pub fn lower_final(at: &mut At<'_, '_, '_>, input: Flow) -> Flow {
    check(at, "final", &input);
    let output = StreamType { schema: input.ty.schema.clone(), changelog: Changelog::Append, time: None };
    let mut flow = at.add("final", Operation::Final, input, output);
    flow.table_cause = None;
    flow.at_end = true;
    flow
}

/// Each change as a row behind its `op`.
pub fn lower_changes(at: &mut At<'_, '_, '_>, input: Flow) -> Flow {
    check(at, "changes", &input);
    let mut schema = input.ty.schema.clone();
    if schema.field("op").is_some() {
        at.report(names::column_twice("op", at.stage.span, None, "the changes"));
        schema.fields.retain(|field| field.name != "op");
    }
    schema.name = None;
    schema.fields.insert(0, Field::new("op", Ty::String));
    let output = StreamType { schema, changelog: Changelog::Append, time: None };
    let mut flow = at.add("changes", Operation::Changes, input, output);
    flow.table_cause = None;
    flow
}

fn check(at: &mut At<'_, '_, '_>, what: &str, input: &Flow) {
    if !input.is_table() && !input.unknown {
        at.report(tables::not_a_table(what, at.stage.span, &input.name));
    }
}
