//! Computes what is known at compile time, and removes filters that keep every row.

use millstream_runtime::graph::{ExprKind, JobGraph, Literal, Operation, VertexId};

use super::{Pass, fold, rewire};
use crate::plan::analysis::{exprs, failure::Failure};

/// Folding of constants in the expressions of all operators. What would fail at run time is left to fail there.
pub struct FoldConstants;

impl Pass for FoldConstants {
    const NAME: &'static str = "fold_constants";

    fn run(&self, graph: &mut JobGraph) -> bool {
        let failure = Failure::new(graph);
        let mut changed = false;
        for id in graph.topological() {
            exprs::for_each_mut(&mut graph.vertex_mut(id).operation, &mut |_, expr| changed |= fold::fold(expr, &failure));
            if keeps_everything(graph, id) {
                rewire::remove_identity(graph, id);
                changed = true;
            }
        }
        for function in &mut graph.functions {
            changed |= fold::fold(&mut function.body, &failure);
        }
        changed
    }
}

fn keeps_everything(graph: &JobGraph, id: VertexId) -> bool {
    let Operation::Filter(condition) = &graph.vertex(id).operation else { return false };
    matches!(condition.kind, ExprKind::Literal(Literal::Bool(true)))
}
