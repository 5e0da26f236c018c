//! The plan as text: the default of `millstream explain`.

use std::fmt::Write;

use millstream_runtime::graph::text::{OptionList, size_text};
use millstream_runtime::graph::{Chain, Emit, JobVertex, Operation, SourceOperation, StateSettings, VertexId};

use super::{Plan, deliveries, travels, ways_out};
use crate::plan::analysis::stages::asked_columns;
use crate::plan::dump::{operation, types};

/// Sources, chains with their operators, and the delivery guarantees.
pub fn text(plan: Plan<'_>) -> String {
    let mut out = String::new();
    let settings = &plan.job.settings;
    let doc =
        settings.doc.as_deref().and_then(|doc| doc.lines().next()).map(|doc| format!(": {}", doc.trim())).unwrap_or_default();
    let _ = writeln!(out, "Job {}{doc}", settings.name);
    if let StateSettings::Disk { path, memory } = &settings.state {
        let _ = writeln!(out, "\nState: up to {} of it in memory, the rest on disk in {path}", size_text(*memory));
    }
    let _ = writeln!(out, "\nSources");
    for id in plan.job.topological() {
        source(&mut out, plan, id);
    }
    let chains = plan.execution.chains.len();
    let _ =
        writeln!(out, "\nTasks ({chains} {}, each run by one task per subtask)", if chains == 1 { "chain" } else { "chains" });
    for chain in &plan.execution.chains {
        self::chain(&mut out, plan, chain);
    }
    let _ = writeln!(out, "\nWays out besides the sinks");
    for line in ways_out(plan.job) {
        let _ = writeln!(out, "  {line}");
    }
    delivery(&mut out, plan);
    out
}

fn source(out: &mut String, plan: Plan<'_>, id: VertexId) {
    let vertex = plan.job.vertex(id);
    let Operation::Source(source) = &vertex.operation else { return };
    let format = source.format.as_deref().map(|format| format!(", format {format}")).unwrap_or_default();
    if source.stages.is_empty() {
        let _ = writeln!(out, "  {} from {} {}{format}", vertex.name, source.connector, OptionList(&source.options));
    } else {
        let _ = writeln!(out, "  {} from {}", vertex.name, source.connector);
        stages(out, source);
    }
    let _ = writeln!(out, "      {}", types::kind(&vertex.output));
    let _ = writeln!(out, "      reads {}", types::schema(&vertex.output.schema));
    let unread = unread_columns(plan, id, vertex);
    if !unread.is_empty() {
        let _ = writeln!(out, "      nothing reads {}", unread.join(", "));
    }
    match &source.watermark {
        Some(watermark) => {
            let _ = writeln!(out, "      watermark {}", watermark.watermark);
        }
        None => out.push_str("      no watermark: no event time\n"),
    }
}

/// The stages of a hybrid source, and when it goes from one to the next.
fn stages(out: &mut String, source: &SourceOperation) {
    for (number, stage) in source.stages.iter().enumerate() {
        let format = stage.format.as_deref().map(|format| format!(", format {format}")).unwrap_or_default();
        let when = match number.checked_sub(1).and_then(|before| source.stages.get(before)) {
            None => "first".to_owned(),
            Some(before) => format!("when all of {} is read", before.name),
        };
        let _ =
            writeln!(out, "      {}. {} from {} {}{format}", number + 1, stage.name, stage.connector, OptionList(&stage.options));
        let _ = writeln!(out, "         {when}");
    }
    let asked: Vec<_> = asked_columns(source).into_iter().collect();
    if !asked.is_empty() {
        let _ = writeln!(out, "      remembers of every stage the greatest {}", asked.join(", "));
    }
}

/// Columns that pruning took away, at the top and inside records.
fn unread_columns(plan: Plan<'_>, id: VertexId, vertex: &JobVertex) -> Vec<String> {
    let Some(before) = plan.as_built(id) else { return Vec::new() };
    let mut out = Vec::new();
    let mut open: Vec<_> = vec![(String::new(), &before.output.schema, Some(&vertex.output.schema))];
    while let Some((path, before, after)) = open.pop() {
        for field in &before.fields {
            let now = after.and_then(|after| after.field(&field.name));
            match (field.ty.required(), now.map(|now| now.ty.required())) {
                (_, None) => out.push(format!("{path}{}", field.name)),
                (millstream_runtime::graph::Ty::Record(before), Some(millstream_runtime::graph::Ty::Record(after))) => {
                    open.push((format!("{path}{}.", field.name), before, Some(after)));
                }
                _ => {}
            }
        }
    }
    out
}

fn chain(out: &mut String, plan: Plan<'_>, chain: &Chain) {
    let subtasks = plan.parallelism(chain);
    let group = if chain.slot_group == "default" { String::new() } else { format!(", slot group {}", chain.slot_group) };
    let fixed = if chain.parallelism.is_some() { ", fixed" } else { "" };
    let _ = writeln!(out, "  {} ({subtasks} {}{fixed}{group})", chain.name, if subtasks == 1 { "subtask" } else { "subtasks" });
    for (_, edge) in plan.execution.inputs(chain.id) {
        let from = &plan.execution.chain(edge.from).name;
        let _ = writeln!(out, "      from {from}: {} ({})", travels(plan.job, edge), edge.reason);
    }
    for member in &chain.members {
        let vertex = plan.job.vertex(*member);
        let _ = writeln!(out, "    - {}: {}", vertex.name, operation::summary(&vertex.operation));
        if !matches!(vertex.operation, Operation::Sink(_) | Operation::Source(_)) {
            let _ = writeln!(out, "        {}{}", types::kind(&vertex.output), updates(vertex));
        }
        if let Some(state) = super::state::state(plan.job, *member) {
            let _ = writeln!(out, "        keeps {state}");
        }
    }
}

/// How a table goes on.
fn updates(vertex: &JobVertex) -> &'static str {
    let emit = match &vertex.operation {
        Operation::Aggregate(aggregate) => aggregate.emit,
        Operation::Dedup(dedup) => dedup.emit,
        Operation::Top(top) => top.emit,
        _ => return "",
    };
    match emit {
        Emit::Changes => "; retract: an update says the old row and the new one",
        Emit::Upserts => "; upsert: an update says the new row, which replaces that of its key",
        Emit::Append | Emit::Final => "",
    }
}

fn delivery(out: &mut String, plan: Plan<'_>) {
    let _ = writeln!(out, "\nDelivery");
    let mut said = std::collections::HashSet::new();
    for delivery in deliveries(plan.job) {
        let (source, sink) = (&plan.job.vertex(delivery.source).name, &plan.job.vertex(delivery.sink).name);
        let text = format!("  {source} -> {sink}: {}\n      {}\n", delivery.guarantee.words(), delivery.why);
        // Two sinks of one stream have one name.
        if said.insert(text.clone()) {
            out.push_str(&text);
        }
    }
}
