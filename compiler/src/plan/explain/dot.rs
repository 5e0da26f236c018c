//! The plan as a Graphviz drawing: chains are boxes around their operators.

use std::fmt::Write;

use super::{Plan, travels};
use crate::plan::dump::operation;

/// Text for `dot -Tsvg`.
pub fn dot(plan: Plan<'_>) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "digraph {} {{", quoted(&plan.job.settings.name));
    out.push_str("  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n");
    for chain in &plan.execution.chains {
        let _ = writeln!(out, "  subgraph {} {{", quoted(&format!("cluster_{}", chain.name)));
        let _ = writeln!(out, "    label={};", quoted(&format!("{} x {}", chain.name, plan.parallelism(chain))));
        for member in &chain.members {
            let vertex = plan.job.vertex(*member);
            let label = format!("{}\n{}", vertex.name, operation::summary(&vertex.operation));
            let _ = writeln!(out, "    {} [label={}];", quoted(&vertex.uid), quoted(&label));
        }
        for (producer, _, consumer) in &chain.links {
            let _ =
                writeln!(out, "    {} -> {};", quoted(&plan.job.vertex(*producer).uid), quoted(&plan.job.vertex(*consumer).uid));
        }
        out.push_str("  }\n");
    }
    for edge in &plan.execution.exchanges {
        let (from, to) = (&plan.job.vertex(edge.producer).uid, &plan.job.vertex(edge.consumer).uid);
        let _ = writeln!(out, "  {} -> {} [label={}, style=dashed];", quoted(from), quoted(to), quoted(&travels(plan.job, edge)));
    }
    out.push_str("}\n");
    out
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
