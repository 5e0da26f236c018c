//! How programs become job graphs: exchanges, inherited parallelism, what is left out.

use millstream_compiler::session::{Loader, Session};
use millstream_runtime::graph::{ExecutionGraph, JobGraph, Operation};

struct Text(String);

impl Loader for Text {
    fn load(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.clone().into_bytes())
    }
}

/// Plans these items over a source of rows `{ id, name, at }`.
fn plan(items: &str) -> JobGraph {
    let text = format!(
        "job test {{ parallelism: 4 }}\nrecord Row {{ id: int64, name: string, at: timestamp }}\n\
         source rows: Row from file {{ path: \"rows.jsonl\", format: json }} watermark at - 1s\n{items}"
    );
    let mut session = Session::open("test.flow", &Text(text)).unwrap();
    let planned = session.plan();
    planned.unwrap_or_else(|| panic!("{:#?}", session.diagnostics())).built
}

/// `uid <- exchange` of every edge, in topological order.
fn edges(graph: &JobGraph) -> Vec<String> {
    let of = |id| graph.inputs(id).into_iter().map(move |(_, edge)| format!("{} <- {}", graph.vertex(id).uid, edge.exchange));
    graph.topological().into_iter().flat_map(of).collect()
}

fn parallelism(graph: &JobGraph, uid: &str) -> Option<u32> {
    let id = graph.vertices().find(|id| graph.vertex(*id).uid == uid).unwrap_or_else(|| panic!("no {uid}"));
    graph.vertex(id).hints.parallelism
}

const SINK: &str = "into file { path: \"out\", format: json }";

#[test]
fn keyed_operators_take_rows_by_key_and_the_rest_forward() {
    let graph = plan(&format!(
        "stream s = rows | where id > 0 | aggregate by name over tumbling(1m) {{ name, n: count() }}\nsink s {SINK}"
    ));
    assert_eq!(edges(&graph), ["s/where/0 <- forward", "s/aggregate/0 <- hash by (name)", "sink/s/file <- forward"]);
}

#[test]
fn without_a_key_all_rows_come_to_one_place_and_stay_there() {
    let graph = plan(&format!(
        "stream s = rows | aggregate over tumbling(1m) {{ n: count() }} | where n > 1\nsink s {SINK}\nsink s | rebalance {SINK}"
    ));
    assert_eq!(edges(&graph)[0], "s/aggregate/0 <- all to one");
    for uid in ["s/aggregate/0", "s/where/0", "sink/s/file"] {
        assert_eq!(parallelism(&graph, uid), Some(1), "{uid}");
    }
    // After rows are dealt out again there is no reason to stay alone.
    assert_eq!(parallelism(&graph, "sink/s/file/1"), None);
    assert_eq!(parallelism(&graph, "rows/source/0"), None);
}

#[test]
fn the_physical_operator_nearest_to_the_consumer_decides() {
    let graph = plan(&format!(
        "stream s = rows | broadcast | partition by name | rebalance | where id > 0\nsink s | partition by (id) {SINK}"
    ));
    assert_eq!(edges(&graph), ["s/where/0 <- rebalance", "sink/s/file <- hash by (id)"]);
}

#[test]
fn a_key_is_stronger_than_a_physical_operator() {
    let graph = plan(&format!("stream s = rows | rebalance | dedup by (id)\nsink s {SINK}"));
    assert_eq!(edges(&graph)[0], "s/dedup/0 <- hash by (id)");
}

/// A task that is ahead of another would know of windows that are over what that one does not.
#[test]
fn rows_before_a_broadcast_join_stay_where_they_are_unless_windows_end_for_all_at_once() {
    let join = |before: &str, over: &str| {
        let graph = plan(&format!(
            "source others: Row from file {{ path: \"others.jsonl\", format: json }} watermark at\n\
             stream s = rows {before}| join others as o on id == o.id {over} broadcast | select {{ id }}\nsink s {SINK}"
        ));
        edges(&graph).into_iter().take(2).map(|edge| edge.replace("s/join/0 <- ", "")).collect::<Vec<_>>()
    };
    assert_eq!(join("", ""), ["forward", "broadcast"]);
    assert_eq!(join("| rebalance ", "within 1m"), ["rebalance", "broadcast"]);
    assert_eq!(join("", "over tumbling(1m)"), ["rebalance", "broadcast"]);
    assert_eq!(join("| partition by name ", "over tumbling(1m)"), ["hash by (name)", "broadcast"]);
}

#[test]
fn the_changes_of_a_row_stay_together() {
    let table = "stream t = rows | @parallelism(2) aggregate by name { name, n: count() }\n";
    // Final runs as often as the maker of the table, side by side with it.
    let graph = plan(&format!("{table}sink t | final {SINK}"));
    assert_eq!(edges(&graph)[1], "sink/t/final/0 <- forward");
    assert_eq!(parallelism(&graph, "sink/t/final/0"), Some(2));
    // What runs more often gets the rows by the table's key.
    let graph = plan(&format!("{table}stream u = t | where n > 1\nsink u | final {SINK}"));
    assert_eq!(edges(&graph)[1], "u/where/0 <- hash by (name)");
    // Without a known key the whole row tells.
    let graph = plan(&format!("{table}stream u = t | select {{ n }} | @parallelism(3) where n > 1\nsink u | final {SINK}"));
    assert_eq!(edges(&graph)[2], "u/where/0 <- hash by (n)");
    // Final keeps its state by what its rows come by: where they did not come by the table's key, they are dealt out anew.
    let graph = plan(&format!("{table}sink t | select {{ n }} | final {SINK}"));
    assert_eq!(edges(&graph)[2], "sink/t/final/0 <- hash by (n)");
    let two = "stream t = rows | aggregate by (name, id) { id, name, n: count() }\n";
    let graph = plan(&format!("{two}sink t | @parallelism(3) final {SINK}"));
    assert_eq!(edges(&graph)[1], "sink/t/final/0 <- hash by (name, id)");
}

#[test]
fn what_reaches_no_sink_is_left_out() {
    let graph = plan(&format!("stream s = rows | where id > 0\nstream unused = s | dedup by (id)\nsink s {SINK}"));
    assert_eq!(graph.vertices().count(), 3);
    assert!(graph.vertices().all(|id| !matches!(graph.vertex(id).operation, Operation::Dedup(_))));
}

#[test]
fn chains_get_the_names_of_streams() {
    let graph =
        plan(&format!("stream perName = rows | dedup by (name)\nstream match_ = perName | dedup by (id)\nsink match_ {SINK}"));
    let execution = ExecutionGraph::expand(&graph).unwrap();
    assert_eq!(execution.chains.iter().map(|chain| chain.name.as_str()).collect::<Vec<_>>(), ["rows", "per_name", "chain_match"]);
}
