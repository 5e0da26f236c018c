//! How programs become job graphs: exchanges, inherited parallelism, what is left out.

use millstream_compiler::session::{Loader, Session};
use millstream_runtime::graph::{ExecutionGraph, JobGraph, KeptOtherwise, Operation};

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

/// What the state of an operator is kept by in one program and in another.
fn otherwise(old: &str, new: &str, uid: &str) -> Option<KeptOtherwise> {
    let kept = |items: &str| {
        let graph = plan(&format!("{items}\nsink s into blackhole {{}}"));
        graph.kept_by.into_iter().find(|kept| kept.uid == uid).unwrap_or_else(|| panic!("{uid} is kept by nothing: {items}"))
    };
    kept(old).otherwise(&kept(new))
}

const SUM: &str = "aggregate by name { name, n: count() }";

/// Each pair is a pipeline before and after an edit that leaves the key of `s/aggregate/0` the same data.
#[test]
fn an_edit_that_leaves_the_key_the_same_data_is_the_same_key() {
    let plain = format!("stream s = rows | {SUM}");
    for (old, new) in [
        // Filters, and a conversion that one of them brings.
        (plain.clone(), format!("stream s = rows | where id > 7 | {SUM}")),
        // A map before it, and other columns.
        (plain.clone(), format!("stream s = rows | select {{ name, twice: id * 2 }} | {SUM}")),
        // Other names on the way, and a stream between.
        (plain.clone(), "stream s = rows | select { who: name } | aggregate by who { who, n: count() }".to_owned()),
        (
            plain.clone(),
            "stream t = rows | select { who: name }\nstream s = t | aggregate by name: who { name, n: count() }".to_owned(),
        ),
        (plain.clone(), format!("stream s = rows | select {{ x: {{ name, id }} }} | select {{ name: x.name }} | {SUM}")),
        // Rows of another stream too.
        (plain.clone(), format!("stream t = rows | where id < 0\nstream s = rows | union t | {SUM}")),
        (
            plain.clone(),
            format!(
                "source others: {{ nick: string }} from file {{ path: \"others.jsonl\", format: json }}\n\
                 stream t = others | select {{ name: nick }}\nstream u = rows | select {{ name }}\nstream s = u | union t | {SUM}"
            ),
        ),
        // Columns beside it.
        (
            plain.clone(),
            format!(
                "source others: Row from file {{ path: \"others.jsonl\", format: json }} watermark at\n\
                 stream s = rows | left join others as o on id == o.id within 1m | select {{ name, other: o.name }} | {SUM}"
            ),
        ),
        // A function under another name.
        (
            "fn short(x: string) = lower(x)\nstream s = rows | aggregate by k: short(name) { k, n: count() }".to_owned(),
            "fn small(y: string) = lower(y)\nstream s = rows | aggregate by k: small(name) { k, n: count() }".to_owned(),
        ),
        (
            "stream s = rows | aggregate by k: lower(name) { k, n: count() }".to_owned(),
            "fn small(y: string) = lower(y)\nstream s = rows | aggregate by k: small(name) { k, n: count() }".to_owned(),
        ),
        // The key of the operator before it.
        (
            format!("stream s = rows | {SUM}"),
            format!(
                "stream t = rows | aggregate by who: name over tumbling(1m) {{ who }}\nstream s = t | select {{ name: who }} | {SUM}"
            ),
        ),
    ] {
        assert_eq!(otherwise(&old, &new, "s/aggregate/0"), None, "{old}\n-- and --\n{new}");
        assert_eq!(otherwise(&new, &old, "s/aggregate/0"), None, "{new}\n-- and --\n{old}");
    }
}

/// Types are the same each time, so nobody else would notice.
#[test]
fn another_key_of_the_same_type_is_another_key() {
    let select = |name: &str| format!("stream s = rows | select {{ name: {name}, id }} | {SUM}");
    let others = "source others: { id: int64, other: int64, name: string, nick: string, at: timestamp } from file { path: \"o.jsonl\", \
                  format: json } watermark at";
    let join = |left: &str, right: &str, how: &str| {
        format!(
            "{others}\nstream s = rows | select {{ id, two: id * 2, at }} | join others as o on {left} == o.{right} {how} | select {{ id }}"
        )
    };
    let window = |window: &str| format!("stream s = rows | aggregate by name over {window} {{ name, n: count() }}");
    let made = |columns: &str| format!("stream s = rows | aggregate by name {{ name, {columns} }}");
    let over = |over: &str| format!("stream s = rows | select {{ id, name, n: count() over ({over}) }}");
    for (old, new, uid, said) in [
        (
            format!("stream s = rows | {SUM}"),
            "stream s = rows | aggregate by k: lower(name) { k, n: count() }".to_owned(),
            "s/aggregate/0",
            "its key was `name`, and is `lower(name)` now",
        ),
        // The text of the operator is the same.
        (select("name"), select("lower(name)"), "s/aggregate/0", "its key was `name`, and is `name` (that is `lower(name)`) now"),
        (
            "fn f(x: string) = lower(x)\nstream s = rows | dedup by f(name)".to_owned(),
            "fn f(x: string) = upper(x)\nstream s = rows | dedup by f(name)".to_owned(),
            "s/dedup/0",
            "its key was `lower(name)`, and is `upper(name)` now",
        ),
        (
            join("id", "id", ""),
            join("two", "id", ""),
            "s/join/0",
            "the key of its first input was `id`, and is `two` (that is `id * 2`) now",
        ),
        (join("id", "id", ""), join("id", "other", ""), "s/join/0", "the key of its second input was `id`, and is `other` now"),
        (
            join("id", "id", "within 1m broadcast"),
            join("id", "other", "within 1m broadcast"),
            "s/join/0",
            "the key of its second input was `id`, and is `other` now",
        ),
        (
            "stream s = rows | top 3 by at per id".to_owned(),
            "stream s = rows | top 3 by at per (id * 2)".to_owned(),
            "s/top/0",
            "its key was `id`, and is `id * 2` now",
        ),
        (
            "stream s = rows | select { a: name, b: lower(name) } | distinct".to_owned(),
            "stream s = rows | select { a: lower(name), b: name } | distinct".to_owned(),
            "s/distinct/0",
            "its key was `a, b` (that is `name, lower(name)`), and is `a, b` (that is `lower(name), name`) now",
        ),
        (
            window("tumbling(1m)"),
            window("tumbling(2m)"),
            "s/aggregate/0",
            "it was kept by `tumbling(1m)`, and is kept by `tumbling(2m)` now",
        ),
        (
            window("session(1m)"),
            window("session(2m)"),
            "s/aggregate/0",
            "it was kept by `session(1m)`, and is kept by `session(2m)` now",
        ),
        (
            join("id", "id", "over tumbling(1m)"),
            join("id", "id", "over tumbling(2m)"),
            "s/join/0",
            "it was kept by `tumbling(1m)`, and is kept by `tumbling(2m)` now",
        ),
        (
            over("by name, last 3 rows"),
            over("by name, last 5 rows"),
            "s/over/0",
            "it was kept by `last 3 rows`, and is kept by `last 5 rows` now",
        ),
        (made("n: sum(id)"), made("n: sum(id * 2)"), "s/aggregate/0", "its `n` was `sum(id)`, and is `sum(id * 2)` now"),
        (made("n: min(id)"), made("n: max(id)"), "s/aggregate/0", "its `n` was `min(id)`, and is `max(id)` now"),
        (
            made("n: min(id) - min(-id)"),
            made("n: min(-id) - min(id)"),
            "s/aggregate/0",
            "its `min` was `min(id)`, and is `min(-id)` now",
        ),
        (
            "stream s = rows | top 3 by at per id".to_owned(),
            "stream s = rows | top 3 by at desc per id".to_owned(),
            "s/top/0",
            "its `rows` was `top 3 by at`, and is `top 3 by at desc` now",
        ),
        (
            "stream s = rows | top 3 by at per id".to_owned(),
            "stream s = rows | top 5 by at per id".to_owned(),
            "s/top/0",
            "its `rows` was `top 3 by at`, and is `top 5 by at` now",
        ),
        (
            "stream s = rows | dedup by id keep first".to_owned(),
            "stream s = rows | dedup by id keep last".to_owned(),
            "s/dedup/0",
            "its `rows` was `the first that came`, and is `the last by at` now",
        ),
    ] {
        match otherwise(&old, &new, uid) {
            Some(KeptOtherwise::Key(text) | KeptOtherwise::Window(text) | KeptOtherwise::Value(text)) => assert_eq!(text, said),
            None => panic!("not noticed:\n{old}\n-- and --\n{new}"),
        }
    }
}

/// A union of unions has as many ways as leaves, and not as many as paths to them.
#[test]
fn many_ways_to_one_source_are_one() {
    let mut items = "stream s0 = rows | select { name, id }\n".to_owned();
    for n in 1..60 {
        items += &format!("stream s{n} = s{p} | union s{p}\n", p = n - 1);
    }
    let graph = plan(&format!("{items}stream s = s59 | {SUM}\nsink s into blackhole {{}}"));
    let kept = graph.kept_by.iter().find(|kept| kept.uid == "s/aggregate/0").unwrap();
    assert_eq!(kept.to_string(), "key `name`");
}
