//! Rewriting a job graph so that it does less, with the same results and the same errors.
//!
//! Each pass is a file. They run in the order written in [`optimise`]; after each, debug builds and tests verify the graph.
//! What nobody reads is not computed: an error in a column that no operator reads does not happen. Everything else
//! that can fail is evaluated for the same rows as without the passes, and once.

mod dead_streams;
mod drop_old_rows;
mod fold;
mod fold_constants;
mod fuse_final;
mod merge_filters;
mod merge_projects;
mod prune_columns;
mod push_filters;
mod push_watermarks;
mod rewire;
mod route_errors;
mod verify;

pub use dead_streams::DeadStreams;
pub use drop_old_rows::DropOldRows;
pub use fold_constants::FoldConstants;
pub use fuse_final::FuseFinal;
pub use merge_filters::MergeFilters;
pub use merge_projects::MergeProjects;
pub use prune_columns::PruneColumns;
pub use push_filters::PushFilters;
pub use push_watermarks::PushWatermarks;
pub use route_errors::RouteErrors;
pub use verify::verify;

use millstream_runtime::graph::JobGraph;

use super::dump;

/// One rewrite of the job graph.
pub trait Pass {
    /// As shown by `millstream explain --passes`.
    const NAME: &'static str;

    /// Rewrites the graph; says whether anything changed.
    fn run(&self, graph: &mut JobGraph) -> bool;
}

/// What a pass did.
#[derive(Clone, Debug)]
pub struct PassTrace {
    pub name: &'static str,
    pub changed: bool,
    /// The graph after it.
    pub dump: String,
}

/// Runs all passes in order.
pub fn optimise(graph: JobGraph) -> (JobGraph, Vec<PassTrace>) {
    let mut run = Run { graph, traces: Vec::new() };
    run.check("build");
    run.pass(DeadStreams);
    run.pass(FoldConstants);
    run.pass(PushWatermarks);
    run.pass(PushFilters);
    run.pass(MergeFilters);
    run.pass(FuseFinal);
    run.pass(MergeProjects);
    run.pass(DropOldRows);
    run.pass(FoldConstants);
    run.pass(PruneColumns);
    run.pass(RouteErrors);
    (run.graph, run.traces)
}

struct Run {
    graph: JobGraph,
    traces: Vec<PassTrace>,
}

impl Run {
    fn pass<P: Pass>(&mut self, pass: P) {
        let changed = pass.run(&mut self.graph);
        self.check(P::NAME);
        self.traces.push(PassTrace { name: P::NAME, changed, dump: dump::job(&self.graph) });
    }

    /// A broken graph is a bug of the pass before.
    fn check(&self, after: &str) {
        if cfg!(debug_assertions) {
            let problems = verify(&self.graph);
            assert!(problems.is_empty(), "after {after}:\n{}\n\n{}", problems.join("\n"), dump::job(&self.graph));
        }
    }
}
