//! The plan as a Mermaid drawing, which many Markdown viewers show.

use std::collections::HashMap;
use std::fmt::Write;

use super::{Plan, travels};
use crate::plan::dump::operation;

/// Text for a `mermaid` code block.
pub fn mermaid(plan: Plan<'_>) -> String {
    let mut out = "flowchart LR\n".to_owned();
    let ids: HashMap<_, _> =
        plan.job.topological().into_iter().enumerate().map(|(number, id)| (id, format!("op{number}"))).collect();
    for (number, chain) in plan.execution.chains.iter().enumerate() {
        let _ = writeln!(out, "  subgraph chain{number}[{}]", quoted(&format!("{} x {}", chain.name, plan.parallelism(chain))));
        for member in &chain.members {
            let vertex = plan.job.vertex(*member);
            let label = format!("{}<br>{}", escaped(&vertex.name), escaped(&operation::summary(&vertex.operation)));
            let _ = writeln!(out, "    {}[\"{label}\"]", ids[member]);
        }
        for (producer, _, consumer) in &chain.links {
            let _ = writeln!(out, "    {} --> {}", ids[producer], ids[consumer]);
        }
        out.push_str("  end\n");
    }
    for edge in &plan.execution.exchanges {
        let _ = writeln!(out, "  {} -. {} .-> {}", ids[&edge.producer], quoted(&travels(plan.job, edge)), ids[&edge.consumer]);
    }
    out
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// Mermaid reads entities in labels.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '#' => out.push_str("#35;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '\n' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
