//! Every way in which a row can leave a job other than by a sink, so that nothing vanishes unseen.

use millstream_runtime::graph::text::duration_text;
use millstream_runtime::graph::{Changelog, Combine, ErrorPolicy, JobEdge, JobGraph, JoinKind, Operation, Port, VertexId};

use crate::plan::analysis::failure::Failure;

/// One line for each: which operator, which rows, and where they go.
pub fn ways_out(job: &JobGraph) -> Vec<String> {
    let failure = Failure::new(job);
    let mut lines = Vec::new();
    for id in job.topological() {
        let vertex = job.vertex(id);
        let name = &vertex.name;
        match &vertex.operation {
            Operation::Source(source) => {
                lines.push(format!("{name}: a record that cannot be read {}", goes(job, id, source.on_error)));
            }
            Operation::Filter(condition) => {
                lines.push(format!("{name}: a row for which `{condition}` is not true is left out"));
            }
            Operation::Aggregate(aggregate) if aggregate.window.as_ref().is_some_and(has_event_time) => {
                let closed = match aggregate.allowed_lateness {
                    0 => "a row whose window has closed".to_owned(),
                    time => format!("a row whose window closed more than {} ago", duration_text(time)),
                };
                lines.push(format!("{name}: {closed} {}", late(job, id)));
            }
            Operation::Process(process) => {
                for (number, side) in process.sides.iter().enumerate() {
                    if target(job, id, Port::Side(number)).is_none() {
                        let of = side
                            .variant
                            .as_ref()
                            .map_or("its side output".to_owned(), |name| format!("its side output `{name}`"));
                        lines.push(format!("{name}: a row of {of} is left out"));
                    }
                }
            }
            Operation::Over(_) => lines.push(format!("{name}: a row that is older than the watermark is dropped and counted")),
            Operation::Join(join) if join.lookup().is_some() => {
                let table = join.lookup().map_or("", |lookup| &lookup.name);
                let left_out = match join.kind {
                    JoinKind::Inner | JoinKind::Semi => "that is not found",
                    JoinKind::Anti => "that is found",
                    _ => continue,
                };
                lines.push(format!("{name}: a row {left_out} in `{table}` (with a null key none is) is left out"));
            }
            Operation::Join(join) => {
                if join.times().is_some() {
                    lines.push(format!("{name}: a row that comes too late {}", late(job, id)));
                }
                let left_out = match join.kind {
                    JoinKind::Inner => "a row of either side that finds no partner (with a null key none does) is",
                    JoinKind::Left => "a row of the right side that finds no partner (with a null key none does) is",
                    JoinKind::Right => "a row of the left side that finds no partner (with a null key none does) is",
                    JoinKind::Full => "",
                    JoinKind::Semi => "a row that finds no partner (with a null key none does) is",
                    JoinKind::Anti => "a row that finds a partner is",
                };
                if !left_out.is_empty() {
                    lines.push(format!("{name}: {left_out} left out"));
                }
            }
            Operation::Sort(sort) if sort.time.is_some() => {
                lines.push(format!("{name}: a row that is older than the watermark {}", late(job, id)));
            }
            Operation::Top(top) => {
                if top.window.as_ref().is_some_and(has_event_time) {
                    lines.push(format!("{name}: a row whose window has closed {}", late(job, id)));
                }
                let per = if top.keys.is_empty() { "" } else { " of each key" };
                lines.push(format!("{name}: all but the first {}{per} are left out", top.count));
            }
            Operation::Combine(combine) => lines.push(match combine.how {
                Combine::Distinct => format!("{name}: a row that came before is left out"),
                Combine::Intersect => format!("{name}: a row that the other side has not is left out"),
                Combine::Except => format!("{name}: a row that the other side has is left out"),
            }),
            Operation::Dedup(dedup) => {
                lines.push(format!("{name}: all but one row per key are left out"));
                if dedup.late_output {
                    lines.push(format!("{name}: a late row that may repeat what is forgotten {}", late(job, id)));
                }
            }
            _ => {}
        }
        if takes_rows_back(job, id) {
            lines.push(format!("{name}: a change that takes back a row which is not there is dropped and counted"));
        }
        if failure.operation_can_fail(&vertex.operation) {
            let policy = match target(job, id, Port::Error) {
                None if job.settings.on_error == ErrorPolicy::Into => ErrorPolicy::Fail,
                _ => job.settings.on_error,
            };
            lines.push(format!("{name}: a row that cannot be computed {}", goes(job, id, policy)));
        }
    }
    lines
}

/// Whether an operator with state reads a table.
fn takes_rows_back(job: &JobGraph, id: VertexId) -> bool {
    let keeps = matches!(
        job.vertex(id).operation,
        Operation::Aggregate(_) | Operation::Top(_) | Operation::Combine(_) | Operation::KeyBy(_)
    );
    let is_table = |(producer, edge): &(VertexId, &JobEdge)| job.output_type(*producer, edge.port).changelog != Changelog::Append;
    keeps && job.inputs(id).iter().any(is_table)
}

fn goes(job: &JobGraph, id: VertexId, policy: ErrorPolicy) -> String {
    match (policy, target(job, id, Port::Error)) {
        (ErrorPolicy::Into, Some(to)) => format!("goes to `{to}`"),
        (ErrorPolicy::Fail, _) => "stops the job".to_owned(),
        _ => "is skipped and counted".to_owned(),
    }
}

/// What becomes of late rows.
fn late(job: &JobGraph, id: VertexId) -> String {
    target(job, id, Port::Late).map_or("is dropped and counted".to_owned(), |to| format!("goes to `{to}`"))
}

/// The first that reads an output, by its item's name.
fn target(job: &JobGraph, id: VertexId, port: Port) -> Option<String> {
    let (consumer, _) = job.outputs(id).into_iter().find(|(_, edge)| edge.port == port)?;
    let name = &job.vertex(consumer).name;
    Some(name.split(": ").next().unwrap_or(name).to_owned())
}

fn has_event_time(window: &millstream_runtime::graph::Window) -> bool {
    use millstream_runtime::graph::WindowTime;
    matches!(crate::plan::analysis::exprs::window_time(window), Some(WindowTime::Event(_)))
}
