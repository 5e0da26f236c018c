//! How programs become job graphs: exchanges, inherited parallelism, what is left out.

use millstream_compiler::session::{Loader, Session};
use millstream_runtime::graph::{ExecutionGraph, JobGraph, Operation};

/// The text of the pipeline, and that of the Rust file that it uses.
struct Text(String, &'static str);

impl Loader for Text {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        Ok(if path.ends_with(".rs") { self.1.as_bytes().to_vec() } else { self.0.clone().into_bytes() })
    }
}

/// Plans these items over a source of rows `{ id, name, at }`.
fn plan(items: &str) -> JobGraph {
    plan_with(items, "")
}

/// The same with items of a Rust file.
fn plan_with(items: &str, rust: &'static str) -> JobGraph {
    let text = format!(
        "job test {{ parallelism: 4 }}\nrecord Row {{ id: int64, name: string, at: timestamp }}\n\
         source rows: Row from file {{ path: \"rows.jsonl\", format: json }} watermark at - 1s\n{items}"
    );
    let mut session = Session::open("test.flow", &Text(text, rust)).unwrap();
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

/// An operator in Rust, with what else stands in its `impl`.
macro_rules! operator {
    ($more:literal) => {
        concat!(
            "#[derive(Clone, Record)]\npub struct Id { pub id: i64 }\npub enum Two { A(Id), B(Id) }\npub enum Three { A(Id), B(Id), C(Id) }\n\
             pub struct Own;\n#[operator]\nimpl Process for Own {\ntype Output = Id;\n\
             fn process(&mut self, row: Self::Input, cx: &mut Context<'_, Self>) -> Result<(), Failure> { Ok(()) }\n",
            $more,
            "\n}"
        )
    };
}

#[test]
fn an_operator_that_keeps_nothing_takes_rows_where_they_are() {
    let own = format!("use rust \"own.rs\"\nstream s = rows | process Own\nsink s {SINK}");
    let chains = |graph: &JobGraph| ExecutionGraph::expand(graph).unwrap().chains.len();
    for plain in [
        operator!("type Input = Id;"),
        operator!("type Input = Id; type Side = Id;"),
        operator!("type Input = Id; type State = (); type Shared = ();"),
    ] {
        let graph = plan_with(&own, plain);
        assert_eq!(edges(&graph), ["s/select/0 <- forward", "s/process/0 <- forward", "sink/s/file <- forward"], "{plain}");
        assert_eq!(parallelism(&graph, "s/process/0"), None);
        assert_eq!(chains(&graph), 1);
    }
    // What is the same for all rows has one place: state, timers, what is kept beside the keys, and the end.
    for keeps in [
        operator!("type Input = Id; type State = Id;"),
        operator!("type Input = Id; type Shared = Id;"),
        operator!(
            "type Input = Id; fn on_event_timer(&mut self, at: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> { Ok(()) }"
        ),
        operator!(
            "type Input = Id; fn on_clock_timer(&mut self, at: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> { Ok(()) }"
        ),
        operator!("type Input = Id; fn on_end(&mut self, cx: &mut SharedContext<'_, Self>) -> Result<(), Failure> { Ok(()) }"),
    ] {
        let graph = plan_with(&own, keeps);
        assert_eq!(edges(&graph)[1], "s/process/0 <- all to one", "{keeps}");
        assert_eq!(parallelism(&graph, "s/process/0"), Some(1));
    }
    // Who asks for a key gets rows by it.
    let by_id = format!("use rust \"own.rs\"\nstream s = rows | process by id Own\nsink s {SINK}");
    assert_eq!(edges(&plan_with(&by_id, operator!("type Input = Id;")))[1], "s/process/0 <- hash by (id)");
}

#[test]
fn several_streams_into_an_operator_that_keeps_nothing_stay_where_they_are() {
    let two = format!("use rust \"own.rs\"\nstream s = rows | process Own with rows\nsink s {SINK}");
    let graph = plan_with(&two, operator!("type Input = Two;"));
    let to_it: Vec<String> = edges(&graph).into_iter().filter(|edge| edge.starts_with("s/process/0 <-")).collect();
    assert_eq!(to_it, ["s/process/0 <- forward", "s/process/0 <- forward"]);
    let three = format!("use rust \"own.rs\"\nstream s = rows | process Own with rows with rows\nsink s {SINK}");
    assert!(edges(&plan_with(&three, operator!("type Input = Three;"))).iter().all(|edge| edge.ends_with("<- forward")));
}

/// A sink of a record, into this, and the connector.
macro_rules! sink_of_record {
    ($into:literal) => {
        concat!(
            "// A sink of the stream `s`, which stands far enough behind the beginning of the file.\n#[derive(Clone, Record, Sink)]\n\
             #[sink(of = s, into = ",
            $into,
            ")]\npub struct Out { #[flow(key)] pub id: i64, pub name: String }\n\
             /// Puts rows under their key.\n#[derive(Connector)]\n#[flow(keyed)]\npub struct Puts {\n/// Where.\npub url: String }\n\
             impl TableSinkConnector for Puts {}\n"
        )
    };
}

#[test]
fn the_key_of_a_record_is_that_of_its_sink_unless_the_sink_says_one() {
    let last = |stream: &str, rust| {
        let graph = plan_with(&format!("use rust \"own.rs\"\nstream s = {stream}"), rust);
        edges(&graph).split_off(edges(&graph).len() - 2)
    };
    let rows = "rows | select { id, name }";
    assert_eq!(last(rows, sink_of_record!("puts { url: \"x\" }"))[1], "sink/s/puts <- hash by (id)");
    assert_eq!(last(rows, sink_of_record!("puts { url: \"x\" }, key = (name)"))[1], "sink/s/puts <- hash by (name)");
    // Others take no key.
    assert_eq!(last(rows, sink_of_record!("file { path: \"x\", format: json }"))[1], "sink/s/file <- forward");
    // A table of another key: its rows are brought under that of the record.
    let table = "rows | @ttl(never) dedup by name keep last | select { id, name }";
    assert_eq!(
        last(table, sink_of_record!("puts { url: \"x\" }")),
        ["sink/s/key_by/0 <- hash by (id)", "sink/s/puts <- forward"]
    );
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
