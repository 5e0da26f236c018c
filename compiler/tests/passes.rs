//! Passes against the reference interpreter: on random pipelines and rows each keeps the results and the failures.

mod reference;

use millstream_compiler::plan::passes::*;
use millstream_compiler::plan::{dump, optimise};
use millstream_runtime::graph::JobGraph;
use reference::random::{Case, case};
use reference::{Outcome, run};

/// Enough to show a mistake in seconds; MILLSTREAM_CASES=20000 for a long look.
fn cases() -> u64 {
    std::env::var("MILLSTREAM_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(400)
}

/// Runs a pass on the graph of every seed and compares. `prepare` brings the graph into the form that the pass expects.
/// Says how often the pass changed something.
fn check(
    name: &str,
    tame: bool,
    prepare: fn(&mut JobGraph),
    pass: fn(&mut JobGraph) -> bool,
    same: fn(&Outcome, &Outcome) -> bool,
) {
    let mut changed = 0;
    for seed in 0..cases() {
        let Case { mut graph, rows } = case(seed, tame);
        prepare(&mut graph);
        let problems = verify(&graph);
        assert!(problems.is_empty(), "the case of seed {seed} is unsound: {problems:#?}\n{}", dump::job(&graph));
        let before = graph.clone();
        changed += u64::from(pass(&mut graph));
        let problems = verify(&graph);
        let graphs = || format!("seed {seed}, before {name}:\n{}\nafter:\n{}", dump::job(&before), dump::job(&graph));
        assert!(problems.is_empty(), "{}\n{problems:#?}", graphs());
        let (expected, found) = (run(&before, &rows), run(&graph, &rows));
        assert!(same(&expected, &found), "{}\nrows: {rows:#?}\nexpected {expected:#?}\nfound {found:#?}", graphs());
    }
    assert!(changed > cases() / 100, "{name} changed only {changed} of {} cases: this shows nothing", cases());
}

/// The same rows, and as many failures.
fn equal(expected: &Outcome, found: &Outcome) -> bool {
    expected == found
}

/// What nobody reads is not computed, so its failures do not happen: compare where there are none.
fn equal_without_failures(expected: &Outcome, found: &Outcome) -> bool {
    expected.failures > 0 || expected == found
}

fn nothing(_: &mut JobGraph) {}

#[test]
fn dead_streams_keeps_results() {
    // Every stream of a case reaches a sink; a part that does not is added here.
    let dead = |graph: &mut JobGraph| {
        let Some(first) = graph.topological().first().copied() else { return };
        let mut vertex = graph.vertex(first).clone();
        vertex.uid = "dead".to_owned();
        vertex.operation = millstream_runtime::graph::Operation::Filter(reference::boolean(true));
        let dead = graph.add(vertex);
        let exchange = millstream_runtime::graph::Exchange::Forward;
        graph.connect(
            first,
            dead,
            millstream_runtime::graph::JobEdge { exchange, port: millstream_runtime::graph::Port::Main, input: 0 },
        );
    };
    check("dead_streams", false, dead, |graph| DeadStreams.run(graph), equal);
}

#[test]
fn fold_constants_keeps_results() {
    check("fold_constants", false, nothing, |graph| FoldConstants.run(graph), equal);
}

#[test]
fn fold_constants_is_done_after_one_run() {
    for seed in 0..cases() {
        let Case { mut graph, .. } = case(seed, false);
        FoldConstants.run(&mut graph);
        let once = dump::job(&graph);
        assert!(!FoldConstants.run(&mut graph), "seed {seed}: {once}\n{}", dump::job(&graph));
    }
}

#[test]
fn push_watermarks_keeps_results() {
    check("push_watermarks", false, nothing, |graph| PushWatermarks.run(graph), equal);
}

#[test]
fn push_filters_keeps_results() {
    check("push_filters", false, nothing, |graph| PushFilters.run(graph), equal);
}

#[test]
fn merge_filters_keeps_results() {
    check("merge_filters", false, nothing, |graph| MergeFilters.run(graph), equal);
}

#[test]
fn fuse_final_keeps_results() {
    check("fuse_final", false, nothing, |graph| FuseFinal.run(graph), equal);
}

#[test]
fn merge_projects_keeps_results() {
    let pruned = |graph: &mut JobGraph| {
        PruneColumns.run(graph);
    };
    check("merge_projects", false, pruned, |graph| MergeProjects.run(graph), equal);
}

#[test]
fn prune_columns_keeps_results() {
    check("prune_columns", true, nothing, |graph| PruneColumns.run(graph), equal_without_failures);
}

#[test]
fn all_passes_together_keep_results() {
    let all = |graph: &mut JobGraph| {
        let (optimised, traces) = optimise(graph.clone());
        *graph = optimised;
        traces.iter().any(|trace| trace.changed)
    };
    check("all passes", true, nothing, all, equal_without_failures);
}

/// Most tame cases run without a failure, so that comparing them shows something.
#[test]
fn tame_cases_rarely_fail() {
    let failing = (0..cases()).filter(|seed| {
        let Case { graph, rows } = case(*seed, true);
        run(&graph, &rows).failures > 0
    });
    let failing = failing.count() as u64;
    assert!(failing < cases() / 4, "{failing} of {}", cases());
}
