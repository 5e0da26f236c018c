//! Whether what waits for event time will ever see it come.

use super::parts::Parts;
use crate::graph::{JobGraph, JoinHow, Operation, VertexId, Window, WindowTime};

/// Whether an operator does something when the watermark has come to a time.
fn waits_for_time(operation: &Operation) -> bool {
    let by_rows = |window: &Option<Window>| match window {
        Some(
            Window::Tumbling { time, .. }
            | Window::Sliding { time, .. }
            | Window::Session { time, .. }
            | Window::Cumulative { time, .. }
            | Window::Calendar { time, .. },
        ) => *time != WindowTime::Processing,
        Some(Window::Count { .. } | Window::SlidingCount { .. } | Window::Global) | None => false,
    };
    match operation {
        Operation::Aggregate(aggregate) => by_rows(&aggregate.window),
        Operation::Top(top) => by_rows(&top.window),
        Operation::Over(_) => true,
        Operation::Join(join) => !matches!(join.how, JoinHow::Unbounded | JoinHow::Lookup(_)),
        _ => false,
    }
}

/// The sources before an operator that say no time of their rows, in order.
fn without_time(graph: &JobGraph, of: VertexId) -> Vec<VertexId> {
    let (mut open, mut seen) = (vec![of], std::collections::BTreeSet::new());
    while let Some(vertex) = open.pop() {
        if seen.insert(vertex) {
            open.extend(graph.inputs(vertex).into_iter().map(|(input, _)| input));
        }
    }
    let lacks =
        |vertex: &VertexId| matches!(&graph.vertex(*vertex).operation, Operation::Source(source) if source.watermark.is_none());
    seen.into_iter().filter(lacks).collect()
}

impl Parts {
    /// Windows, frames and joins in time would give nothing before the end of the input, behind a source of which nobody knows the time.
    pub(super) fn check_event_time(&mut self) {
        let mut found = Vec::new();
        for vertex in self.graph.vertices() {
            let about = self.graph.vertex(vertex);
            if !waits_for_time(&about.operation) {
                continue;
            }
            for source in without_time(&self.graph, vertex) {
                let text = format!(
                    "`{}` waits for event time, and rows of `{}` have none: put `.watermark(|row| .., delay)` behind that source",
                    about.name,
                    self.graph.vertex(source).name
                );
                found.push((about.origin.clone(), text));
            }
        }
        for (origin, text) in found {
            self.mistake(&origin, &text);
        }
    }
}
