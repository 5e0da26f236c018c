//! Layouts that cannot run: what [`ExecutionGraph::expand`](super::ExecutionGraph::expand) refuses, and why.

use super::expr::Origin;
use super::job::{Exchange, JobGraph, VertexId};

/// A layout that cannot run. The compiler turns it into a diagnostic with the same code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutError {
    /// `E0701`
    pub code: &'static str,
    pub title: String,
    /// What to say at the place.
    pub label: String,
    pub help: Option<String>,
    /// The operator's place; None: the job as a whole.
    pub origin: Option<Origin>,
}

/// Key groups are numbered by 16 bits in checkpoints, half of which are used.
const MOST_KEY_GROUPS: u32 = 32_768;

/// Everything that keeps this graph from running, in a stable order.
pub(super) fn check(graph: &JobGraph) -> Vec<LayoutError> {
    let mut errors = Vec::new();
    check_job(graph, &mut errors);
    for vertex in graph.topological() {
        check_parallelism(graph, vertex, &mut errors);
    }
    errors
}

fn check_job(graph: &JobGraph, errors: &mut Vec<LayoutError>) {
    let settings = &graph.settings;
    let mut job = |code, title: String, help: &str| {
        errors.push(LayoutError { code, title, label: String::new(), help: Some(help.to_owned()), origin: None });
    };
    if graph.vertices().next().is_none() {
        job("E0703", "nothing in this job reaches a sink".to_owned(), "add one: `sink my_stream into stdout {}`");
    }
    if !(1..=MOST_KEY_GROUPS).contains(&settings.max_parallelism) {
        let title = format!("max_parallelism must be between 1 and {MOST_KEY_GROUPS}, not {}", settings.max_parallelism);
        job("E0701", title, "it is the number of key groups; leave it out to get 128");
    } else if !(1..=settings.max_parallelism).contains(&settings.parallelism) {
        let title = format!(
            "the job's parallelism must be between 1 and max_parallelism ({}), not {}",
            settings.max_parallelism, settings.parallelism
        );
        job("E0701", title, "lower `parallelism`, or raise `max_parallelism` in `job { .. }`");
    }
}

fn check_parallelism(graph: &JobGraph, id: VertexId, errors: &mut Vec<LayoutError>) {
    let vertex = graph.vertex(id);
    let Some(parallelism) = vertex.hints.parallelism else { return };
    let most = graph.settings.max_parallelism;
    if !(1..=most).contains(&parallelism) {
        errors.push(LayoutError {
            code: "E0701",
            title: format!("`{}` cannot run {parallelism} times", vertex.name),
            label: format!("@parallelism must be between 1 and max_parallelism, which is {most}"),
            help: Some("keyed rows are dealt out by key group, and there are max_parallelism of them".to_owned()),
            origin: Some(vertex.origin.clone()),
        });
    } else if parallelism > 1 && graph.inputs(id).iter().any(|(_, edge)| edge.exchange == Exchange::Hash(Vec::new())) {
        errors.push(LayoutError {
            code: "E0702",
            title: format!("`{}` has no key, so it runs once, not {parallelism} times", vertex.name),
            label: "all rows come to one subtask here".to_owned(),
            help: Some("group `by` a column, or remove @parallelism".to_owned()),
            origin: Some(vertex.origin.clone()),
        });
    }
}
