//! What must hold of every job graph, after every pass.

use std::collections::HashSet;

use millstream_runtime::graph::{Changelog, Expr, ExprKind, Field, JobGraph, Operation, Schema, Side, Ty, VertexId};

use crate::plan::analysis::exprs::{Scope, edge_keys, for_each};
use crate::plan::analysis::pairs;

/// What is wrong with a graph: unknown columns, wrong types, missing inputs. Empty for a sound one.
pub fn verify(graph: &JobGraph) -> Vec<String> {
    let mut problems = Vec::new();
    let order = graph.topological();
    if order.len() != graph.vertices().count() {
        problems.push("the graph has a cycle".to_owned());
    }
    let mut uids = HashSet::new();
    for id in order {
        let vertex = graph.vertex(id);
        let mut found = Vec::new();
        if !uids.insert(vertex.uid.as_str()) {
            found.push("its id is taken".to_owned());
        }
        check_inputs(graph, id, &mut found);
        check_expressions(graph, id, &mut found);
        check_output(graph, id, &mut found);
        problems.extend(found.into_iter().map(|problem| format!("[{}] {problem}", vertex.uid)));
    }
    problems
}

fn check_inputs(graph: &JobGraph, id: VertexId, problems: &mut Vec<String>) {
    let vertex = graph.vertex(id);
    let inputs = graph.inputs(id);
    let fits = match vertex.operation {
        Operation::Source(_) => inputs.is_empty(),
        Operation::Union => !inputs.is_empty(),
        Operation::Errors => true,
        Operation::Join(ref join) if join.lookup().is_some() => inputs.len() == 1,
        Operation::Join(_) => matches!(inputs.as_slice(), [(_, left), (_, right)] if (left.input, right.input) == (0, 1)),
        Operation::Process(ref process) if process.second.is_some() => {
            matches!(inputs.as_slice(), [(_, first), (_, second)] if (first.input, second.input) == (0, 1))
        }
        _ => inputs.len() == 1,
    };
    if !fits {
        problems.push(format!("it has {} inputs", inputs.len()));
    }
    if matches!(vertex.operation, Operation::Sink(_)) && !graph.outputs(id).is_empty() {
        problems.push("a sink feeds something".to_owned());
    }
    for (producer, edge) in inputs {
        let rows = graph.output_type(producer, edge.port);
        if matches!(vertex.operation, Operation::Final | Operation::Changes) && matches!(rows.changelog, Changelog::Append) {
            problems.push("it reads a table, and its input is a stream".to_owned());
        }
        if matches!(vertex.operation, Operation::Union | Operation::Errors) && rows.schema.fields != vertex.output.schema.fields {
            problems.push(format!("its input has columns {}, not {}", rows.schema, vertex.output.schema));
        }
        edge_keys(edge).iter().for_each(|key| check_expr(key, &rows.schema, problems));
    }
}

fn check_expressions(graph: &JobGraph, id: VertexId, problems: &mut Vec<String>) {
    let vertex = graph.vertex(id);
    let empty = Schema::default();
    let input = graph.inputs(id).first().map_or(&empty, |(producer, edge)| &graph.output_type(*producer, edge.port).schema);
    let [left, right] = pairs::sides(graph, id);
    let pair = match &vertex.operation {
        Operation::Join(join) => pairs::pair(join, &left.schema, &right.schema),
        _ => Schema::default(),
    };
    for_each(&vertex.operation, &mut |scope, expr| match scope {
        Scope::Input => check_expr(expr, input, problems),
        Scope::Own => check_expr(expr, &vertex.output.schema, problems),
        Scope::Side(Side::Left) => check_expr(expr, &left.schema, problems),
        Scope::Side(Side::Right) => check_expr(expr, &right.schema, problems),
        Scope::Pair => check_expr(expr, &pair, problems),
        Scope::Group => check_group(&vertex.operation, expr, problems),
        Scope::Start => check_expr(expr, &empty, problems),
    });
    if let Operation::Filter(condition) = &vertex.operation
        && *condition.ty.required() != Ty::Bool
    {
        problems.push(format!("its condition is a {}", condition.ty));
    }
}

/// Columns and fields exist and have the types that the expression says.
fn check_expr(expr: &Expr, row: &Schema, problems: &mut Vec<String>) {
    expr.walk(&mut |node| match &node.kind {
        ExprKind::Column(name) => match row.field(name) {
            None => problems.push(format!("`{name}` is no column of {row}")),
            Some(field) if field.ty != node.ty => {
                problems.push(format!("`{name}` is a {} in an expression and a {} in {row}", node.ty, field.ty))
            }
            Some(_) => {}
        },
        ExprKind::Field(base, name) => match base.ty.required() {
            Ty::Record(schema) => match schema.field(name) {
                Some(field) if *field.ty.required() == *node.ty.required() => {}
                _ => problems.push(format!("`{base}` has no field `{name}` of type {}", node.ty)),
            },
            other => problems.push(format!("`{base}` is a {other} and has no fields")),
        },
        ExprKind::Error => problems.push("a broken expression".to_owned()),
        ExprKind::Literal(literal) if *literal != millstream_runtime::graph::Literal::Null && node.ty.is_optional() => {
            problems.push(format!("the literal {node} has the optional type {}", node.ty));
        }
        _ => {}
    });
}

fn check_group(operation: &Operation, expr: &Expr, problems: &mut Vec<String>) {
    let Operation::Aggregate(aggregate) = operation else { return };
    expr.walk(&mut |node| {
        let ty = match &node.kind {
            ExprKind::Key(index) => aggregate.keys.get(*index).map(|(_, key)| &key.ty),
            ExprKind::Aggregate(index) => aggregate.calls.get(*index).map(|call| &call.ty),
            ExprKind::Column(_) | ExprKind::Error => None,
            _ => return,
        };
        if ty != Some(&node.ty) {
            problems.push(format!("`{node}` is no {} of the group", node.ty));
        }
    });
}

/// The output schema is what the operator computes.
fn check_output(graph: &JobGraph, id: VertexId, problems: &mut Vec<String>) {
    let vertex = graph.vertex(id);
    let computed = match &vertex.operation {
        Operation::Project(columns) => columns,
        Operation::Aggregate(aggregate) => &aggregate.output,
        Operation::Over(over) => {
            let inputs = graph.inputs(id);
            let input = inputs.first().map(|(producer, edge)| graph.output_type(*producer, edge.port).schema.fields.clone());
            let mut wanted = input.unwrap_or_default();
            wanted.extend(over.calls.iter().map(|(name, call)| Field::new(name.clone(), call.call.ty.clone())));
            if wanted != vertex.output.schema.fields {
                problems.push(format!("its rows {} are not its input's with its calls", vertex.output.schema));
            }
            return;
        }
        Operation::Top(top) if top.rank.is_some() => return,
        Operation::Filter(_)
        | Operation::Dedup(_)
        | Operation::Top(_)
        | Operation::Sort(_)
        | Operation::Inserts
        | Operation::KeyBy(_)
        | Operation::Final
        | Operation::Watermark(_) => {
            let input = graph.inputs(id).first().map(|(producer, edge)| &graph.output_type(*producer, edge.port).schema.fields);
            if input != Some(&vertex.output.schema.fields) {
                problems.push(format!("its rows {} are not those of its input", vertex.output.schema));
            }
            return;
        }
        Operation::Join(join) => {
            let [left, right] = pairs::sides(graph, id);
            let pair = pairs::pair(join, &left.schema, &right.schema);
            for field in &vertex.output.schema.fields {
                if pair.field(&field.name).is_none_or(|comes| comes.ty.required() != field.ty.required()) {
                    problems.push(format!("`{}: {}` is no column of a pair {pair}", field.name, field.ty));
                }
            }
            for key in join.keys.iter().filter(|key| key.left.ty != key.right.ty) {
                problems.push(format!("`{}` and `{}` are of different types", key.left, key.right));
            }
            return;
        }
        _ => return,
    };
    let fields = &vertex.output.schema.fields;
    let same = fields.len() == computed.len()
        && fields.iter().zip(computed).all(|(field, (name, value))| field.name == *name && field.ty == value.ty);
    if !same {
        problems.push(format!("its rows {} are not what it computes", vertex.output.schema));
    }
}
