//! However a pipeline comes into a program, it is the same job: the same plan, and the same rows.
//!
//! Of a pipeline in plain Rust, expressions cannot be compared: the graph has closures for them, of which nobody knows what they compute. All
//! else is: operators with their ids and names, connectors and their options, windows, calls, columns, key types, exchanges, chains.

use millstream::graph::{
    Changelog, ConnectorOption, Exchange, ExecutionGraph, JobGraph, JoinHow, Operation, OptionValue, VertexId, Window, WindowTime,
};
use millstream::value::{Decimal, Timestamp};
use millstream::{Job, RunOptions};
use millstream_compiler::codegen::{EmitOptions, emit};
use millstream_compiler::disk::Disk;
use millstream_compiler::plan::dump;
use millstream_compiler::session::{Planned, Session};
use millstream_embedded_example::{
    accounts, built, built_accounts, built_operators, derived, derived_accounts, included, typed, typed_operators, written,
    written_accounts,
};

/// What does not depend on the name of the job.
fn shape(job: &Job) -> String {
    let chains: Vec<_> = job
        .chains
        .iter()
        .map(|chain| format!("{} {:?} {:?} {:?}", chain.name, chain.uids, chain.parallelism, chain.inputs))
        .collect();
    format!("{:#x} {:?} {:?} {}", job.fingerprint, job.params, job.parallelism, chains.join("\n"))
}

fn plan(path: &str) -> Planned {
    let mut session = Session::open(&format!("{}/{path}", env!("CARGO_MANIFEST_DIR")), &Disk).unwrap();
    session.plan().unwrap()
}

#[test]
fn the_plans_are_the_same() {
    let (built, included, written) = (shape(&built::job()), shape(&included::job()), shape(&written::job()));
    assert_eq!(built, included);
    assert_eq!(built, written);
    assert_eq!(built, shape(&derived::job()));
    // And that of the generated crate of `millstream build --emit-only`.
    let planned = plan("pipelines/built.flow");
    let options = EmitOptions { source: "built.flow".to_owned(), folder: Default::default(), version: "0.0.0".to_owned() };
    let generated = emit(&planned.job, &planned.execution, &options);
    let main = &generated.files[std::path::Path::new("src/main.rs")];
    let fingerprint = built.split(' ').next().unwrap();
    assert!(main.replace('_', "").contains(fingerprint), "{fingerprint} is not in\n{main}");
    // The graphs differ by the name of the job and nothing else.
    let graph = |path| dump::job(&plan(path).job).replace("included", "built").replace("derived", "built");
    assert_eq!(graph("pipelines/built.flow"), graph("src/included.flow"));
    assert_eq!(graph("pipelines/built.flow"), graph("src/derived.flow"));
}

/// All of a graph but expressions.
fn outline(job: &JobGraph) -> String {
    let mut text = String::new();
    for id in job.topological() {
        let vertex = job.vertex(id);
        text.push_str(&format!("{} ({}) {:?}\n", vertex.uid, vertex.name, vertex.hints));
        let about = match &vertex.operation {
            Operation::Source(source) => {
                let option = |option: &ConnectorOption| match &option.value {
                    OptionValue::Value(value) => format!("{}: {value}", option.name),
                    other => format!("{}: {other:?}", option.name),
                };
                let options: Vec<_> = source.options.iter().map(option).collect();
                format!("from {} {options:?}, time: {}", source.connector, source.watermark.is_some())
            }
            Operation::Filter(condition) => format!("where {}", condition.ty),
            Operation::Aggregate(aggregate) => {
                let window = match &aggregate.window {
                    Some(Window::Tumbling { size, offset, time: WindowTime::Event(_) }) => format!("tumbling {size} {offset}"),
                    other => format!("{other:?}"),
                };
                let keys: Vec<_> = aggregate.keys.iter().map(|(_, key)| key.ty.to_string()).collect();
                let calls: Vec<_> = aggregate.calls.iter().map(|call| call.function).collect();
                format!("by {keys:?} {calls:?} {window} {} {:?}", aggregate.allowed_lateness, aggregate.emit)
            }
            Operation::Sink(sink) => format!("into {}", sink.connector),
            other => format!("{other:?}"),
        };
        let changes = &vertex.output.changelog;
        text.push_str(&format!("  {about}\n  {changes:?} {}\n", vertex.output.schema));
        for (producer, edge) in job.inputs(id) {
            let exchange = match &edge.exchange {
                Exchange::Hash(keys) => format!("hash {:?}", keys.iter().map(|key| key.ty.to_string()).collect::<Vec<_>>()),
                other => format!("{other:?}"),
            };
            text.push_str(&format!("  <- {} {:?} {} {exchange}\n", job.vertex(producer).uid, edge.port, edge.input));
        }
    }
    let execution = ExecutionGraph::expand(job).unwrap();
    for chain in &execution.chains {
        let members: Vec<_> = chain.members.iter().map(|member| &job.vertex(*member).uid).collect();
        text.push_str(&format!("chain {} {members:?} {:?} {}\n", chain.name, chain.parallelism, chain.slot_group));
    }
    text
}

#[test]
fn the_graph_is_the_same_in_plain_rust() {
    let (pipeline, _sender, _receiver) = typed::pipeline(Decimal(0));
    let typed = outline(&pipeline.graph());
    let planned = outline(&plan("pipelines/built.flow").job);
    assert_eq!(typed, planned);
    // It does not leave out what makes a difference.
    assert!(
        typed.contains("tumbling 60000000") && typed.contains("hash [\"string\"]") && typed.contains("total: decimal(38, 2)"),
        "{typed}"
    );
}

/// Customer, hundredths, second.
const ORDERS: &[(&str, i64, i64)] =
    &[("ann", 250, 1), ("bob", 100, 2), ("ann", 50, 59), ("eve", 999, 60), ("bob", 1, 61), ("ann", 300, 200)];

#[test]
fn attributes_say_in_the_language_what_they_say_in_rust() {
    let graph = dump::job(&plan("src/attributes.flow").job);
    let said = |text: &str| assert!(graph.contains(text), "{text}: {graph}");
    said("from spool");
    said("after: remove");
    said("watch: 10s");
    said("place_of");
}

/// What a module makes of the orders, in order.
macro_rules! rows {
    ($module:ident) => {{
        let params = $module::Params { least: Decimal::parse("0.50").unwrap() };
        let $module::Running { job, orders, revenue } = $module::start(params, RunOptions::new().parallelism(2)).unwrap();
        for (customer, amount, second) in ORDERS {
            let amount = Decimal::parse(&format!("{}.{:02}", amount / 100, amount % 100)).unwrap();
            let at = Timestamp(second * 1_000_000);
            orders.send_blocking($module::Order { customer: (*customer).into(), amount, at }).unwrap();
        }
        drop(orders);
        let mut rows: Vec<String> =
            revenue.map(|row| format!("{} {} {} {}", row.minute, row.customer, row.orders, row.total)).collect();
        job.wait().unwrap();
        rows.sort();
        rows
    }};
}

#[test]
fn the_rows_are_the_same() {
    let rows = rows!(built);
    assert_eq!(rows.len(), 4, "{rows:?}");
    assert!(rows[0].ends_with("ann 2 3.00") && rows[1].ends_with("bob 1 1.00") && rows[2].ends_with("eve 1 9.99"), "{rows:?}");
    assert_eq!(rows!(included), rows);
    assert_eq!(rows!(written), rows);
    assert_eq!(rows!(derived), rows);
    assert_eq!(typed_rows(), rows);
}

/// The same of the pipeline in plain Rust.
fn typed_rows() -> Vec<String> {
    let (pipeline, orders, revenue) = typed::pipeline(Decimal::parse("0.50").unwrap());
    let job = pipeline.start(RunOptions::new().parallelism(2)).unwrap();
    for (customer, amount, second) in ORDERS {
        let amount = Decimal::parse(&format!("{}.{:02}", amount / 100, amount % 100)).unwrap();
        orders.send_blocking(typed::Order { customer: (*customer).into(), amount, at: Timestamp(second * 1_000_000) }).unwrap();
    }
    drop(orders);
    let mut rows: Vec<String> =
        revenue.map(|row| format!("{} {} {} {}", row.minute, row.customer, row.orders, row.total)).collect();
    job.wait().unwrap();
    rows.sort();
    rows
}

/// The same with an operator over three streams that has two side outputs, and a table in a connector of the user's own. Two of the sources
/// and a sink stand beside their records, where the others have them in the text, in another order.
#[test]
fn the_plans_of_operators_and_tables_are_the_same() {
    let built = shape(&built_accounts::job());
    assert_eq!(built, shape(&written_accounts::job()));
    assert_eq!(built, shape(&derived_accounts::job()));
    let graph = |path| dump::job(&plan(path).job).replace("derived_accounts", "built_accounts");
    let of_built = graph("pipelines/built_accounts.flow");
    assert_eq!(of_built, graph("src/derived_accounts.flow"));
    assert!(of_built.contains("with side outputs Refunded and Warning") && of_built.contains("ledger"), "{of_built}");
}

/// Who ordered, paid, or got something back.
const ORDERED: &[(&str, i64)] = &[("ann", 500), ("bob", 2_000_000), ("ann", 300)];
const PAID: &[(&str, i64)] = &[("ann", 100), ("eve", 7)];
const RETURNED: &[(&str, i64)] = &[("ann", 300)];

/// What stands at last in a file of changes, by key.
fn standing(file: &std::path::Path) -> std::collections::BTreeMap<String, String> {
    let mut standing = std::collections::BTreeMap::new();
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let [kind, key, row] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        match kind {
            "insert" | "update_after" => drop(standing.insert(key.to_owned(), row.to_owned())),
            "delete" => drop(standing.remove(key)),
            _ => {}
        }
    }
    standing
}

/// What a module makes of them: the balances, then what its side outputs have.
macro_rules! balances {
    ($module:ident, $folder:expr) => {{
        let path = $folder.path().join(stringify!($module));
        let params = $module::Params { path: path.to_string_lossy().as_ref().into() };
        let $module::Running { job, orders, payments, refunds, refunded, warnings } =
            $module::start(params, RunOptions::new().parallelism(2)).unwrap();
        for (customer, amount) in ORDERED {
            orders.send_blocking($module::Ordered { customer: (*customer).into(), amount: *amount }).unwrap();
        }
        for (payer, amount) in PAID {
            payments.send_blocking($module::Paid { payer: (*payer).into(), amount: *amount }).unwrap();
        }
        for (customer, back) in RETURNED {
            refunds.send_blocking($module::Returned { customer: (*customer).into(), back: *back }).unwrap();
        }
        drop((orders, payments, refunds));
        let refunded: Vec<String> = refunded.map(|row| format!("{} {}", row.customer, row.back)).collect();
        let warnings: Vec<String> = warnings.map(|row| format!("{} {}", row.customer, row.owes)).collect();
        job.wait().unwrap();
        (standing(&path), refunded, warnings)
    }};
}

#[test]
fn the_tables_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let found = balances!(built_accounts, folder);
    let balance = |customer: &str, entries: i64, owes: i64| {
        (customer.to_owned(), format!("{{\"customer\":\"{customer}\",\"entries\":{entries},\"owes\":{owes}}}"))
    };
    let balances = [balance("ann", 4, 400), balance("bob", 1, 2_000_000), balance("eve", 1, -7)];
    assert_eq!(found.0, balances.into_iter().collect());
    assert_eq!((&*found.1, &*found.2), (&["ann 300".to_owned()][..], &["bob 2000000".to_owned()][..]));
    assert_eq!(balances!(written_accounts, folder), found);
    assert_eq!(balances!(derived_accounts, folder), found);
    // In plain Rust.
    let path = folder.path().join("typed");
    let (pipeline, ends) = typed::accounts(path.to_string_lossy().into_owned());
    let job = pipeline.start(RunOptions::new().parallelism(2)).unwrap();
    let typed::AccountsEnds { orders, payments, refunds, refunded, warnings } = ends;
    for (customer, amount) in ORDERED {
        orders.send_blocking(accounts::Order { customer: (*customer).to_owned(), amount: *amount }).unwrap();
    }
    for (payer, amount) in PAID {
        payments.send_blocking(accounts::Payment { payer: (*payer).to_owned(), amount: *amount }).unwrap();
    }
    for (customer, back) in RETURNED {
        refunds.send_blocking(accounts::Refund { customer: (*customer).to_owned(), back: *back }).unwrap();
    }
    drop((orders, payments, refunds));
    let refunded: Vec<String> = refunded.map(|row| format!("{} {}", row.customer, row.back)).collect();
    let warnings: Vec<String> = warnings.map(|row| format!("{} {}", row.customer, row.owes)).collect();
    job.wait().unwrap();
    assert_eq!((standing(&path), refunded, warnings), found);
}

/// What the operators of a job are that keep state or have several inputs, by their ids: closures make their rows where the language has a
/// `select` behind them.
fn operators(job: &JobGraph) -> Vec<String> {
    /// The producer, if it is more than a `select`, else what that takes its rows from.
    fn before(job: &JobGraph, id: VertexId) -> &str {
        match &job.vertex(id).operation {
            Operation::Project(_) => before(job, job.inputs(id)[0].0),
            _ => &job.vertex(id).uid,
        }
    }
    let types = |exprs: Vec<&millstream::graph::Expr>| exprs.iter().map(|expr| expr.ty.to_string()).collect::<Vec<_>>();
    let mut shown = Vec::new();
    for id in job.topological() {
        let vertex = job.vertex(id);
        let about = match &vertex.operation {
            Operation::Project(_) => continue,
            Operation::Top(top) => {
                let order: Vec<_> = top.order.iter().map(|key| (key.value.ty.to_string(), key.descending)).collect();
                let keys = types(top.keys.iter().collect());
                let how = (top.count, top.ties, top.latest_first, &top.rank, &top.window, top.emit);
                format!("top {how:?} by {order:?} per {keys:?} {}", vertex.output.schema)
            }
            Operation::Join(join) => {
                let keys: Vec<_> = join.keys.iter().map(|key| types(vec![&key.left, &key.right])).collect();
                let how = match &join.how {
                    JoinHow::Lookup(lookup) => {
                        let options: Vec<_> = lookup.options.iter().map(|option| &option.name).collect();
                        let about = (&lookup.name, &lookup.connector, options, lookup.texts.len(), lookup.cache, lookup.ordered);
                        format!("{about:?} {}", lookup.schema)
                    }
                    JoinHow::Over { window: Window::Tumbling { size, offset, .. }, times, allowed_lateness } => {
                        format!("over {size} {offset} {} {} {allowed_lateness}", times.left.ty, times.right.ty)
                    }
                    other => format!("{other:?}"),
                };
                let condition = join.condition.as_ref().map(|condition| condition.ty.to_string());
                format!("{} on {keys:?} {condition:?} {how} {:?} {}", join.kind.words(), join.emit, join.broadcast)
            }
            Operation::Aggregate(aggregate) => {
                let keys = types(aggregate.keys.iter().map(|(_, key)| key).collect());
                let calls: Vec<_> = aggregate.calls.iter().map(|call| call.function).collect();
                format!("aggregate by {keys:?} {calls:?} {:?} {:?}", aggregate.window, aggregate.emit)
            }
            Operation::Over(over) => {
                let calls: Vec<_> = over.calls.iter().map(|(name, call)| (name, call.call.function, call.back)).collect();
                let keys = types(over.keys.iter().collect());
                format!("over {keys:?} {} {:?} {calls:?} {}", over.time.ty, over.frame, vertex.output.schema)
            }
            Operation::Source(source) => format!("from {} {}", source.connector, vertex.output.schema),
            Operation::Sink(sink) => format!("into {}", sink.connector),
            other => format!("{other:?} {}", vertex.output.schema),
        };
        let inputs = job.inputs(id).into_iter().map(|(producer, edge)| {
            let exchange = match &edge.exchange {
                Exchange::Hash(keys) => format!("hash {:?}", types(keys.iter().collect())),
                other => format!("{other:?}"),
            };
            format!("{} {:?} {} {exchange}", before(job, producer), edge.port, edge.input)
        });
        let is_table = vertex.output.changelog != Changelog::Append;
        let inputs = inputs.collect::<Vec<_>>();
        shown.push(format!("{} ({}) {:?} table: {is_table}\n  {about}\n  {inputs:#?}", vertex.uid, vertex.name, vertex.hints));
    }
    shown.sort();
    shown
}

#[test]
fn the_operators_are_the_same_in_plain_rust() {
    let (pipeline, _ends) = typed_operators::operators("regions.csv");
    let typed = operators(&pipeline.graph());
    let planned = operators(&plan("pipelines/built_operators.flow").job);
    assert_eq!(typed.join("\n"), planned.join("\n"));
    assert_eq!(typed.len(), 4 + 1 + 9 + 8, "{typed:#?}");
}

/// The rows of a module's ends, each sorted.
macro_rules! rows_of_operators {
    ($job:ident, $ends:ident, $module:ident) => {{
        let order = |id: i64, customer: &str, amount: i64| $module::Order {
            id,
            customer: customer.into(),
            amount,
            at: Timestamp(id * 1_000_000),
        };
        for (id, customer, amount) in [(1, "ann", 20), (2, "bob", 5), (3, "ann", 30)] {
            $ends.orders.send_blocking(order(id, customer, amount)).unwrap();
        }
        $ends.web_orders.send_blocking(order(4, "ann", 25)).unwrap();
        $ends.phone_orders.send_blocking(order(5, "eve", 1)).unwrap();
        for (order_id, reason) in [(3, "broken"), (5, "late"), (9, "lost")] {
            $ends.returns.send_blocking($module::Return { order_id, reason: reason.into() }).unwrap();
        }
        drop(($ends.orders, $ends.web_orders, $ends.phone_orders, $ends.returns));
        let mut standing = std::collections::BTreeSet::new();
        for change in $ends.greatest {
            let row = change.row;
            let row = format!("{} {} {} {} {}", row.id, row.customer, row.amount, row.at, row.rank);
            let fits = if change.kind.adds() { standing.insert(row) } else { standing.remove(&row) };
            assert!(fits, "{standing:?}");
        }
        let mut rows: Vec<String> = standing.into_iter().collect();
        rows.extend($ends.returned.map(|row| format!("returned {} {} {}", row.id, row.customer, row.reason)));
        rows.extend($ends.running.map(|row| format!("running {} {} {}", row.id, row.customer, row.last_two)));
        let mut standing = std::collections::BTreeSet::new();
        for change in $ends.spread {
            let row = format!("spread {} {} {}", change.row.much, change.row.customers, change.row.most);
            let fits = if change.kind.adds() { standing.insert(row) } else { standing.remove(&row) };
            assert!(fits, "{standing:?}");
        }
        rows.extend(standing);
        rows.extend($ends.greater.map(|row| format!("greater {} than {}", row.id, row.than)));
        rows.extend($ends.by_twos.map(|row| format!("by twos {} {}", row.customer, row.total)));
        rows.extend($ends.two_before.map(|row| format!("two before {} {:?}", row.id, row.before)));
        rows.extend($ends.located.map(|row| format!("located {} {}", row.id, row.region.as_deref().unwrap_or("-"))));
        $job.wait().unwrap();
        rows.sort();
        rows
    }};
}

#[test]
fn the_rows_of_the_operators_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("regions.csv").to_string_lossy().into_owned();
    std::fs::write(&path, "customer,region\nann,north\neve,south\n").unwrap();
    let (pipeline, ends) = typed_operators::operators(&path);
    let job = pipeline.start(RunOptions::new().parallelism(2)).unwrap();
    let typed = rows_of_operators!(job, ends, typed_operators);
    let params = built_operators::Params { regions: path.as_str().into() };
    let ends = built_operators::start(params, RunOptions::new().parallelism(2)).unwrap();
    let job = ends.job;
    let built = rows_of_operators!(job, ends, built_operators);
    // Rows of a customer come from several sources, in no order: two of them are in one window, whichever.
    let parted = |rows: Vec<String>| rows.into_iter().partition::<Vec<_>, _>(|row| row.starts_with("by twos"));
    let ((twos, typed), (built_twos, built)) = (parted(typed), parted(built));
    assert_eq!((twos.len(), built_twos.len()), (4, 4), "{twos:?} {built_twos:?}");
    assert_eq!(typed, built);
    let expected = [
        "2 bob 5 1970-01-01T00:00:02Z 1",
        "3 ann 30 1970-01-01T00:00:03Z 1",
        "4 ann 25 1970-01-01T00:00:04Z 2",
        "5 eve 1 1970-01-01T00:00:05Z 1",
        "greater 3 than 1",
        "greater 3 than 4",
        "greater 4 than 1",
        "located 1 north",
        "located 2 -",
        "located 3 north",
        "located 4 north",
        "located 5 south",
        "returned 3 ann broken",
        "returned 5 eve late",
        "running 1 ann 20",
        "running 2 bob 5",
        "running 3 ann 50",
        "running 4 ann 55",
        "running 5 eve 1",
        "spread false 2 5",
        "spread true 1 75",
        "two before 1 None",
        "two before 2 None",
        "two before 3 None",
        "two before 4 Some(20)",
        "two before 5 None",
    ];
    assert_eq!(typed, expected);
}

millstream::flow! {
    job of_a_crate {}

    use crate millstream_embedded_example

    record Name { name: string }

    source names: Name from channel { capacity: 10 }

    stream initials = names | select { initial: initial(name) }

    sink initials into channel {}
}

#[test]
fn a_pipeline_in_a_program_takes_items_of_a_crate() {
    let of_a_crate::Running { job, names, initials } =
        of_a_crate::start(of_a_crate::Params::default(), RunOptions::new()).unwrap();
    names.send_blocking(of_a_crate::Name { name: "ann".into() }).unwrap();
    drop(names);
    let found: Vec<String> = initials.map(|row| row.initial.to_string()).collect();
    job.wait().unwrap();
    assert_eq!(found, ["a"]);
}
