//! A `watermark` operator becomes the source's own, so that watermarks hold per file and partition.

use std::collections::HashMap;

use millstream_runtime::graph::{CastMode, Expr, ExprKind, JobGraph, Literal, Operation, VertexId, WatermarkOperation};

use super::{Pass, rewire};
use crate::plan::analysis::columns::{DEEPEST, depth, substitute};
use crate::plan::analysis::failure::Failure;

/// Splits of a source are read side by side: a watermark made behind it sees their rows mixed, and those of the slower
/// split come late. So the watermark moves into the source where only filters and projections that cannot fail stand
/// between: through projections by what they compute, through filters as `if condition then watermark else null`.
/// It stays if the source has a watermark of its own or feeds two watermarks.
pub struct PushWatermarks;

impl Pass for PushWatermarks {
    const NAME: &'static str = "push_watermarks";

    fn run(&self, graph: &mut JobGraph) -> bool {
        let failure = Failure::new(graph);
        let mut by_source: Vec<(VertexId, Vec<(VertexId, WatermarkOperation)>)> = Vec::new();
        for id in graph.topological() {
            let Some((source, watermark)) = path_to_source(graph, &failure, id) else { continue };
            match by_source.iter_mut().find(|(known, _)| *known == source) {
                Some((_, watermarks)) => watermarks.push((id, watermark)),
                None => by_source.push((source, vec![(id, watermark)])),
            }
        }
        let mut changed = false;
        for (source, mut watermarks) in by_source {
            let (Some((id, watermark)), true) = (watermarks.pop(), watermarks.is_empty()) else { continue };
            if let Operation::Source(operation) = &mut graph.vertex_mut(source).operation
                && operation.watermark.is_none()
            {
                operation.watermark = Some(watermark);
                remove(graph, id);
                changed = true;
            }
        }
        changed
    }
}

/// Takes the operator out; what is before it has its event time now.
fn remove(graph: &mut JobGraph, id: VertexId) {
    let time = graph.vertex(id).output.time.clone();
    if let Some((before, _)) = rewire::only_producer(graph, id) {
        graph.vertex_mut(before).output.time = time;
    }
    rewire::remove_identity(graph, id);
}

/// The source that feeds a watermark operator, and the watermark over that source's rows.
fn path_to_source(graph: &JobGraph, failure: &Failure, id: VertexId) -> Option<(VertexId, WatermarkOperation)> {
    let Operation::Watermark(watermark) = &graph.vertex(id).operation else { return None };
    let mut moved = watermark.clone();
    let mut vertex = id;
    loop {
        (vertex, _) = rewire::only_producer(graph, vertex)?;
        match &graph.vertex(vertex).operation {
            _ if depth(&moved.watermark) > DEEPEST => return None,
            Operation::Source(_) => return Some((vertex, moved)),
            Operation::Filter(condition) if !failure.can_fail(condition) => {
                moved.watermark = only_if(condition.clone(), moved.watermark);
            }
            Operation::Project(columns) if !columns.iter().any(|(_, value)| failure.can_fail(value)) => {
                let values: HashMap<&str, &Expr> = columns.iter().map(|(name, value)| (name.as_str(), value)).collect();
                substitute(&mut moved.watermark, &values);
                moved.column = values.get(moved.column.as_str()).map(ToString::to_string).unwrap_or(moved.column);
            }
            _ => return None,
        }
    }
}

/// `if condition then watermark else null`
fn only_if(condition: Expr, watermark: Expr) -> Expr {
    let ty = watermark.ty.clone().optional();
    let origin = watermark.origin.clone();
    let cast = |kind| Expr { kind, ty: ty.clone(), origin: origin.clone() };
    let null = cast(ExprKind::Literal(Literal::Null));
    let value = if watermark.ty == ty { watermark } else { cast(ExprKind::Cast(CastMode::Implicit, Box::new(watermark))) };
    cast(ExprKind::If(Box::new(condition), Box::new(value), Box::new(null)))
}
