//! Rows of joins in pairs: what they have, and what is needed of each side.

use std::collections::BTreeSet;

use millstream_runtime::graph::{
    Changelog, ExprKind, Field, JobGraph, JoinColumnOf, JoinOperation, Operation, Schema, Side, StreamType, Ty, VertexId,
};

use super::need::Need;

/// What the rows of both sides of a join look like.
pub fn sides(graph: &JobGraph, join: VertexId) -> [StreamType; 2] {
    let inputs = graph.inputs(join);
    let lookup = match &graph.vertex(join).operation {
        Operation::Join(join) => join.lookup(),
        _ => None,
    };
    [Side::Left, Side::Right].map(|side| {
        if let Some(lookup) = lookup.filter(|_| side == Side::Right) {
            return StreamType { schema: lookup.schema.clone(), changelog: Changelog::Append, time: None };
        }
        let input = inputs.iter().find(|(_, edge)| edge.input == side.input());
        let none = || StreamType { schema: Schema::default(), changelog: Changelog::Append, time: None };
        input.map_or_else(none, |(producer, edge)| graph.output_type(*producer, edge.port).clone())
    })
}

/// A pair of rows, as the condition sees it.
pub fn pair(join: &JoinOperation, left: &Schema, right: &Schema) -> Schema {
    let field = |name: &String, of: &JoinColumnOf| match of {
        JoinColumnOf::Window(_) => Some(Field::new(name.clone(), Ty::Timestamp)),
        JoinColumnOf::Side(side, own) => {
            let field = if *side == Side::Left { left.field(own) } else { right.field(own) };
            field.map(|field| Field { name: name.clone(), ..field.clone() })
        }
    };
    Schema::anonymous(join.columns.iter().filter_map(|column| field(&column.name, &column.of)).collect())
}

/// What a join reads of one side if this much of its output is read.
pub fn side_need(join: &JoinOperation, own: &Need, side: Side) -> Need {
    let mut of_pair = own.clone();
    join.condition.iter().for_each(|condition| of_pair.add_expr(condition));
    let mut need = Need::nothing();
    for column in &join.columns {
        if let JoinColumnOf::Side(of, name) = &column.of
            && *of == side
            && let Some(part) = of_pair.of(&column.name)
        {
            need.add(name, part);
        }
    }
    for key in &join.keys {
        need.add_expr(if side == Side::Left { &key.left } else { &key.right });
    }
    if let Some(lookup) = join.lookup().filter(|_| side == Side::Left) {
        lookup.texts.iter().for_each(|text| need.add_expr(text));
    }
    if let Some(times) = join.times() {
        need.add_expr(if side == Side::Left { &times.left } else { &times.right });
    }
    need
}

/// Leaves out columns that neither the output nor the condition reads, and those that no longer come in.
pub fn prune(join: &mut JoinOperation, output: &mut Schema, keep: &Schema, left: &Schema, right: &Schema) {
    let all = pair(join, left, right);
    let mut read = BTreeSet::new();
    if let Some(condition) = &join.condition {
        condition.walk(&mut |node| {
            if let ExprKind::Column(name) = &node.kind {
                read.insert(name.clone());
            }
        });
    }
    join.columns.retain(|column| {
        all.field(&column.name).is_some() && (keep.field(&column.name).is_some() || read.contains(&column.name))
    });
    output.fields.retain(|field| keep.field(&field.name).is_some() && all.field(&field.name).is_some());
    for field in &mut output.fields {
        if let Some(comes) = all.field(&field.name) {
            field.ty = if field.ty.is_optional() { comes.ty.clone().optional() } else { comes.ty.clone() };
        }
    }
}
