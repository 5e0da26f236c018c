//! A job graph as text.

use std::fmt::Write;

use millstream_runtime::graph::text::{duration_text, size_text};
use millstream_runtime::graph::{
    Backoff, CheckpointMode, ErrorPolicy, FailureRate, Hints, JobEdge, JobGraph, JobSettings, Port, RestartSettings, Schema,
    StateSettings, VertexId,
};

use super::{operation, types};

/// The whole graph, settings first, then vertices in topological order.
pub fn job(graph: &JobGraph) -> String {
    let mut out = String::new();
    settings(&mut out, &graph.settings);
    declarations(&mut out, graph);
    for id in graph.topological() {
        vertex(&mut out, graph, id);
    }
    out
}

fn settings(out: &mut String, settings: &JobSettings) {
    let _ = writeln!(out, "job {}", settings.name);
    let _ = writeln!(out, "  parallelism {} of at most {}", settings.parallelism, settings.max_parallelism);
    let _ = writeln!(out, "  buffer timeout {}", duration_text(settings.buffer_timeout));
    if let Some(checkpoint) = &settings.checkpoint {
        let every = duration_text(checkpoint.interval);
        let _ = write!(out, "  checkpoint every {every} to {}, keep {}", checkpoint.directory, checkpoint.keep);
        let _ = write!(out, ", timeout {}", duration_text(checkpoint.timeout));
        if checkpoint.pause > 0 {
            let _ = write!(out, ", pause {}", duration_text(checkpoint.pause));
        }
        if checkpoint.tolerate > 0 {
            let _ = write!(out, ", tolerate {}", checkpoint.tolerate);
        }
        if checkpoint.concurrent > 1 {
            let _ = write!(out, ", {} at once", checkpoint.concurrent);
        }
        if checkpoint.mode == CheckpointMode::AtLeastOnce {
            out.push_str(", at least once");
        }
        match checkpoint.unaligned {
            None => {}
            Some(0) => out.push_str(", unaligned"),
            Some(after) => {
                let _ = write!(out, ", unaligned after {}", duration_text(after));
            }
        }
        out.push('\n');
    }
    if let StateSettings::Disk { path, memory } = &settings.state {
        let _ = writeln!(out, "  state on disk in {path}, {} in memory", size_text(*memory));
    }
    match &settings.restart {
        RestartSettings::Default => {}
        RestartSettings::None => out.push_str("  restart none\n"),
        RestartSettings::Exponential(Backoff { first, most, factor, jitter, reset }) => {
            let (first, most, reset) = (duration_text(*first), duration_text(*most), duration_text(*reset));
            let (factor, jitter) = (f64::from(*factor) / 1000.0, f64::from(*jitter) / 1000.0);
            let _ = writeln!(out, "  restart exponential({first}, {most}, factor: {factor}, jitter: {jitter}, reset: {reset})");
        }
        RestartSettings::FailureRate(FailureRate { failures, within, delay }) => {
            let (within, delay) = (duration_text(*within), duration_text(*delay));
            let _ = writeln!(out, "  restart failure_rate({failures}, {within}, {delay})");
        }
        RestartSettings::Fixed { attempts, delay } => {
            let _ = writeln!(out, "  restart fixed({attempts}, {})", duration_text(*delay));
        }
    }
    match settings.on_error {
        ErrorPolicy::Fail => {}
        ErrorPolicy::Skip => out.push_str("  on error skip\n"),
        ErrorPolicy::Into => out.push_str("  on error into a stream\n"),
    }
}

fn declarations(out: &mut String, graph: &JobGraph) {
    if !graph.params.is_empty() || !graph.functions.is_empty() {
        out.push('\n');
    }
    for param in &graph.params {
        let default = param.default.as_ref().map(|default| format!(" = {default}")).unwrap_or_default();
        let _ = writeln!(out, "param {}: {}{default}", param.name, types::ty(&param.ty));
    }
    for function in &graph.functions {
        let params: Vec<_> = function.params.iter().map(|(name, ty)| format!("{name}: {}", types::ty(ty))).collect();
        let _ =
            writeln!(out, "fn {}({}): {} = {}", function.name, params.join(", "), types::ty(&function.body.ty), function.body);
    }
}

fn vertex(out: &mut String, graph: &JobGraph, id: VertexId) {
    let vertex = graph.vertex(id);
    let inputs = graph.inputs(id);
    let _ = writeln!(out, "\n[{}]{}", vertex.uid, hints(&vertex.hints));
    for (producer, edge) in &inputs {
        let _ = writeln!(out, "  <- {}", input(graph, *producer, edge));
    }
    for line in operation::lines(&vertex.operation) {
        let _ = writeln!(out, "  {line}");
    }
    let input_schema = inputs.first().map(|(producer, edge)| &graph.output_type(*producer, edge.port).schema);
    if !matches!(vertex.operation, millstream_runtime::graph::Operation::Sink(_)) {
        let _ = writeln!(out, "  => {}{}", types::kind(&vertex.output), columns(&vertex.output.schema, input_schema));
    }
}

fn hints(hints: &Hints) -> String {
    let mut out = String::new();
    if let Some(parallelism) = hints.parallelism {
        let _ = write!(out, " @parallelism({parallelism})");
    }
    if let Some(group) = &hints.slot_group {
        let _ = write!(out, " @slot_group({group:?})");
    }
    if hints.no_chain {
        out.push_str(" @no_chain");
    }
    if let Some(ttl) = hints.ttl {
        let ttl = if ttl == i64::MAX { "never".to_owned() } else { duration_text(ttl) };
        let _ = write!(out, " @ttl({ttl})");
    }
    out
}

fn input(graph: &JobGraph, producer: VertexId, edge: &JobEdge) -> String {
    let port = if edge.port == Port::Main { String::new() } else { format!(" ({} rows)", edge.port) };
    format!("{}{port}, {}", graph.vertex(producer).uid, edge.exchange)
}

/// One column a line, or a word where they are those of the input.
fn columns(schema: &Schema, input: Option<&Schema>) -> String {
    if input == Some(schema) {
        return ", columns of its input".to_owned();
    }
    let mut out = schema.name.as_deref().map(|name| format!(" of {name}")).unwrap_or_default();
    for field in &schema.fields {
        let external = field.external.as_deref().map(|name| format!(" (outside: {name:?})")).unwrap_or_default();
        let unit = field.unit.map(|unit| format!(" (numbers are {})", unit.word())).unwrap_or_default();
        let _ = write!(out, "\n       {}: {}{external}{unit}", field.name, types::ty(&field.ty));
    }
    out
}
