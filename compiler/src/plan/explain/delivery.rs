//! The delivery guarantee of each way from a source to a sink, and why it is that.

use std::collections::BTreeSet;

use millstream_runtime::connectors;
use millstream_runtime::graph::text::duration_text;
use millstream_runtime::graph::{CheckpointMode, Exchange, JobGraph, Operation, SourceOperation, VertexId};

/// How often a row's effect appears in a sink if the job fails and resumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guarantee {
    /// Nothing is promised: a failed job begins anew.
    None,
    AtMostOnce,
    AtLeastOnce,
    ExactlyOnce,
}

impl Guarantee {
    /// `exactly once`
    pub fn words(self) -> &'static str {
        match self {
            Guarantee::None => "no guarantee",
            Guarantee::AtMostOnce => "at most once",
            Guarantee::AtLeastOnce => "at least once",
            Guarantee::ExactlyOnce => "exactly once",
        }
    }
}

/// What holds between one source and one sink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub source: VertexId,
    pub sink: VertexId,
    pub guarantee: Guarantee,
    pub why: String,
}

/// All ways from sources to sinks, sources in order.
pub fn deliveries(job: &JobGraph) -> Vec<Delivery> {
    let mut out = Vec::new();
    for source in job.topological() {
        if let Operation::Source(_) = job.vertex(source).operation {
            out.extend(reachable_sinks(job, source).into_iter().map(|sink| delivery(job, source, sink)));
        }
    }
    out
}

fn reachable_sinks(job: &JobGraph, source: VertexId) -> BTreeSet<VertexId> {
    let mut seen = BTreeSet::new();
    let mut open = vec![source];
    while let Some(vertex) = open.pop() {
        if seen.insert(vertex) {
            open.extend(job.outputs(vertex).into_iter().map(|(consumer, _)| consumer));
        }
    }
    seen.retain(|vertex| matches!(job.vertex(*vertex).operation, Operation::Sink(_)));
    seen
}

fn delivery(job: &JobGraph, source: VertexId, sink: VertexId) -> Delivery {
    let (guarantee, why) = judge(job, source, sink);
    Delivery { source, sink, guarantee, why }
}

/// Whether every operator from the source to the sink gets rows from one other, copy by copy: then there is one channel at most for
/// a barrier to come through.
fn is_one_way(job: &JobGraph, source: VertexId, sink: VertexId) -> bool {
    let mut vertex = sink;
    while vertex != source {
        let inputs = job.inputs(vertex);
        let [(from, edge)] = inputs.as_slice() else { return false };
        let copies = |vertex: VertexId| job.vertex(vertex).hints.parallelism;
        if edge.exchange != Exchange::Forward || copies(*from) != copies(vertex) {
            return false;
        }
        vertex = *from;
    }
    true
}

/// The connector of a source, or those of its stages.
fn connectors_of(source: &SourceOperation) -> Vec<&str> {
    match source.stages.is_empty() {
        true => vec![&source.connector],
        false => source.stages.iter().map(|stage| stage.connector.as_str()).collect(),
    }
}

fn judge(job: &JobGraph, source: VertexId, sink: VertexId) -> (Guarantee, String) {
    let (Operation::Source(from), Operation::Sink(into)) = (&job.vertex(source).operation, &job.vertex(sink).operation) else {
        return (Guarantee::None, String::new());
    };
    let (connectors, into) = (connectors_of(from), into.connector.as_str());
    let Some(checkpoint) = &job.settings.checkpoint else {
        let help = "add `checkpoint: every 10s to \"checkpoints\"` to the job";
        return (Guarantee::None, format!("the job takes no checkpoints, so after a failure it begins anew; {help}"));
    };
    let replays = |name: &str| job.connector(name).and_then(|spec| spec.source).is_some_and(|spec| spec.replayable);
    let lost = connectors.iter().copied().find(|name| !replays(name));
    let from = lost.unwrap_or(from.connector.as_str());
    let replayable = lost.is_none();
    let exactly_once = job.connector(into).and_then(|spec| spec.sink).is_some_and(|spec| spec.exactly_once);
    let every = duration_text(checkpoint.interval);
    if from == connectors::channel::NAME {
        let why = format!(
            "rows since the last checkpoint (every {every}) are kept for a new start within the program; they are lost when it ends"
        );
        return (Guarantee::AtMostOnce, why);
    }
    if !replayable {
        let why =
            format!("`{from}` cannot be read again: what came after the last checkpoint (every {every}) is lost in a failure");
        return (Guarantee::AtMostOnce, why);
    }
    if !exactly_once {
        let why =
            format!("`{from}` is read again from the last checkpoint (every {every}), and `{into}` may then show rows twice");
        return (Guarantee::AtLeastOnce, why);
    }
    if checkpoint.mode == CheckpointMode::AtLeastOnce && !is_one_way(job, source, sink) {
        let why = format!(
            "`{from}` is read again from the last checkpoint (every {every}), which holds rows from behind it: `mode: at_least_once` lets \
             them pass while barriers come through several channels, and they count again"
        );
        return (Guarantee::AtLeastOnce, why);
    }
    (
        Guarantee::ExactlyOnce,
        format!(
            "`{from}` is read again from the last checkpoint (every {every}), and `{into}` shows rows only with a completed one"
        ),
    )
}
