//! The typed program as stable text, for `millstream explain --phase hir` and golden files.

use std::fmt::Write;

use millstream_runtime::graph::{Operation, Port, Schema};

use super::program::{Node, Program};
use crate::plan::dump::{operation, types};

/// Params and functions with their types, then nodes in order: what each reads, does, and gives.
pub fn dump(program: &Program) -> String {
    let mut out = format!("job {}\n", program.settings.name);
    if !program.params.is_empty() || !program.functions.is_empty() {
        out.push('\n');
    }
    for param in &program.params {
        let default = param.default.as_ref().map(|default| format!(" = {default}")).unwrap_or_default();
        let _ = writeln!(out, "param {}: {}{default}", param.name, param.ty);
    }
    for function in &program.functions {
        let params: Vec<String> = function.params.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        let _ = writeln!(out, "fn {}({}): {} = {}", function.name, params.join(", "), function.body.ty, function.body);
    }
    for node in &program.nodes {
        dump_node(&mut out, program, node);
    }
    out
}

fn dump_node(out: &mut String, program: &Program, node: &Node) {
    let _ = writeln!(out, "\n{}", node.uid);
    for (input, port) in &node.inputs {
        let from = program.nodes.get(input.0 as usize);
        let uid = from.map_or("?", |node| &node.uid);
        let rows = match port {
            Port::Main => "".to_owned(),
            Port::Late => ", late rows".to_owned(),
            Port::Side(number) => match from.map(|node| &node.operation) {
                Some(Operation::Process(process)) => {
                    process.sides.get(*number).map_or_else(String::new, |side| format!(", {}", side.text()))
                }
                _ => String::new(),
            },
            Port::Error => ", errors".to_owned(),
        };
        let _ = writeln!(out, "  reads {uid}{rows}");
    }
    for line in operation::lines(&node.operation) {
        let _ = writeln!(out, "  {line}");
    }
    if matches!(node.operation, Operation::Sink(_)) {
        return;
    }
    let _ = writeln!(out, "  gives a {}", types::kind(&node.output));
    let input = node.inputs.first().and_then(|(id, _)| program.nodes.get(id.0 as usize)).map(|node| &node.output.schema);
    if input == Some(&node.output.schema) {
        out.push_str("    the same columns\n");
        return;
    }
    columns(out, &node.output.schema);
}

fn columns(out: &mut String, schema: &Schema) {
    for field in &schema.fields {
        let _ = writeln!(out, "    {}: {}", field.name, field.ty);
    }
}
