//! The plan as JSON, for tools. Fields are only ever added.

use millstream_runtime::graph::{Changelog, Operation, Schema, StateSettings, StreamType};
use serde_json::{Map, Value, json};

use super::{Plan, deliveries};
use crate::plan::dump::{operation, types};

/// One object: job, operators, chains, exchanges, delivery.
pub fn json(plan: Plan<'_>) -> Value {
    let job = plan.job;
    let uid = |id| job.vertex(id).uid.as_str();
    let operators: Vec<_> = job.topological().into_iter().map(|id| operator(plan, id)).collect();
    let chains: Vec<_> = plan
        .execution
        .chains
        .iter()
        .map(|chain| {
            json!({
                "name": chain.name,
                "parallelism": plan.parallelism(chain),
                "fixed_parallelism": chain.parallelism.is_some(),
                "slot_group": chain.slot_group,
                "operators": chain.members.iter().map(|member| uid(*member)).collect::<Vec<_>>(),
            })
        })
        .collect();
    let exchanges: Vec<_> = plan
        .execution
        .exchanges
        .iter()
        .map(|edge| {
            json!({
                "from": uid(edge.producer),
                "to": uid(edge.consumer),
                "from_chain": plan.execution.chain(edge.from).name,
                "to_chain": plan.execution.chain(edge.to).name,
                "port": edge.port.to_string(),
                "exchange": edge.exchange.to_string(),
                "why_not_chained": edge.reason.to_string(),
            })
        })
        .collect();
    let delivery: Vec<_> = deliveries(job)
        .into_iter()
        .map(|delivery| {
            json!({
                "source": uid(delivery.source),
                "sink": uid(delivery.sink),
                "guarantee": delivery.guarantee.words(),
                "why": delivery.why,
            })
        })
        .collect();
    let state = match &job.settings.state {
        StateSettings::Memory => json!({ "in": "memory" }),
        StateSettings::Disk { path, memory } => json!({ "in": "disk", "path": path.to_string(), "memory": memory }),
    };
    json!({
        "job": job.settings.name,
        "doc": job.settings.doc,
        "parallelism": job.settings.parallelism,
        "max_parallelism": job.settings.max_parallelism,
        "state": state,
        "operators": operators,
        "chains": chains,
        "exchanges": exchanges,
        "delivery": delivery,
    })
}

fn operator(plan: Plan<'_>, id: millstream_runtime::graph::VertexId) -> Value {
    let vertex = plan.job.vertex(id);
    let inputs: Vec<_> = plan.job.inputs(id).into_iter().map(|(producer, _)| plan.job.vertex(producer).uid.clone()).collect();
    let mut out = Map::new();
    out.insert("id".to_owned(), json!(vertex.uid));
    out.insert("name".to_owned(), json!(vertex.name));
    out.insert("does".to_owned(), json!(operation::summary(&vertex.operation)));
    out.insert("inputs".to_owned(), json!(inputs));
    out.insert("file".to_owned(), json!(vertex.origin.file));
    out.insert("line".to_owned(), json!(vertex.origin.line));
    if !matches!(vertex.operation, Operation::Sink(_)) {
        out.insert("output".to_owned(), output(&vertex.output));
    }
    Value::Object(out)
}

fn output(stream: &StreamType) -> Value {
    let (kind, key) = match &stream.changelog {
        Changelog::Append => ("stream", None),
        Changelog::Table { key } => ("table", key.clone()),
    };
    json!({
        "kind": kind,
        "key": key,
        "time": stream.time.as_ref().map(types::time),
        "columns": columns(&stream.schema),
    })
}

fn columns(schema: &Schema) -> Vec<Value> {
    schema.fields.iter().map(|field| json!({ "name": field.name, "type": types::ty(&field.ty) })).collect()
}
