//! An operator in Rust over five streams, three by key, two that come to every subtask, with several side outputs. Killed, and gone on with at another parallelism.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::support::{assert_success, build, fresh_folder, signal, wait_for};

const FLOW: &str = r#"job accounts { checkpoint: every 50ms to "checkpoints", parallelism: 2 }

use rust "accounts.rs"

source orders: Order from file { path: "orders", format: json, watch: every 20ms } watermark at - 1s
source payments: Payment from file { path: "payments", format: json, watch: every 20ms } watermark at - 1s
source refunds: Refund from file { path: "refunds", format: json, watch: every 20ms }
source rates: Rate from file { path: "rates", format: json, watch: every 20ms }
source titles: Title from file { path: "titles", format: json, watch: every 20ms }

stream entries =
    orders
    | process by customer Accounts
        with payments by payer with broadcast rates with refunds by customer with broadcast titles
        side Known into known side Refunded into refunded

sink entries into file { path: "out", format: json }

// Behind a side output: another exchange by key with state behind it, and an operator in the same chain. Nobody takes `Forgotten`.
stream refunds_of = refunded | process by customer Counted
sink refunds_of into file { path: "refunds_of", format: json }
stream names = known | select { name: f"{kind} {what}" }
sink names into file { path: "names", format: json }
"#;

const RUST: &str = r#"use millstream::prelude::*;

#[derive(Clone, Debug, Record)]
pub struct Order {
    pub customer: String,
    pub n: i64,
    pub at: Timestamp,
}

#[derive(Clone, Debug, Record)]
pub struct Payment {
    pub payer: String,
    pub n: i64,
    pub at: Timestamp,
}

#[derive(Clone, Debug, Record)]
pub struct Refund {
    pub customer: String,
    pub n: i64,
}

#[derive(Clone, Debug, Record)]
pub struct Rate {
    pub rate: i64,
}

#[derive(Clone, Debug, Record)]
pub struct Title {
    pub title: String,
}

#[derive(Clone, Debug, Record)]
pub struct Entry {
    pub kind: String,
    pub n: i64,
    pub customer: Option<String>,
    /// How many of its kind there were, this one included.
    pub count: i64,
    /// How many there were of all kinds, numbers from 1000 on aside.
    pub before: i64,
    pub known: String,
    pub at: Option<Timestamp>,
}

/// Something that every subtask knows from now on.
#[derive(Clone, Debug, Record)]
pub struct Fact {
    pub kind: String,
    pub what: String,
}

#[derive(SideOutputs)]
pub enum Beside {
    Refunded(Refund),
    Forgotten(Order),
    Known(Fact),
}

#[derive(Clone, Debug, Record)]
pub struct Count {
    pub n: i64,
    pub customer: String,
    pub refunds: i64,
}

/// The how manyth of its customer each refund is.
pub struct Counted;

#[operator]
impl Process for Counted {
    type Input = Refund;
    type Output = Count;
    type State = i64;

    fn process(&mut self, row: Refund, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        *cx.state() += 1;
        let refunds = *cx.state();
        cx.emit(Count { n: row.n, customer: row.customer, refunds });
        Ok(())
    }
}

pub enum Event {
    Order(Order),
    Payment(Payment),
    Refund(Refund),
}

pub enum Everywhere {
    Rate(Rate),
    Title(Title),
}

#[derive(Clone, Debug, Default, State)]
pub struct Seen {
    counts: Map<String, i64>,
    before: i64,
}

#[derive(Default, Shared)]
pub struct Known {
    rates: BroadcastState<i64, i64>,
    titles: BroadcastState<i64, String>,
}

pub struct Accounts;

#[operator]
impl Process for Accounts {
    type Input = Event;
    type Output = Entry;
    type State = Seen;
    type Side = Beside;
    type Broadcast = Everywhere;
    type Shared = Known;

    fn process(&mut self, event: Event, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        match &event {
            Event::Order(row) => cx.side(Beside::Forgotten(row.clone())),
            Event::Refund(row) => cx.side(Beside::Refunded(row.clone())),
            Event::Payment(_) => {}
        }
        let (kind, customer, n) = match event {
            Event::Order(row) => ("order", row.customer, row.n),
            Event::Payment(row) => ("payment", row.payer, row.n),
            Event::Refund(row) => ("refund", row.customer, row.n),
        };
        let rate = cx.shared().rates.get(&0).copied().unwrap_or_default();
        let title = cx.shared().titles.get(&0).cloned().unwrap_or_default();
        let seen = cx.state();
        let count = seen.counts.entry(kind.to_owned()).or_default();
        *count += 1;
        let count = *count;
        if n < 1000 {
            seen.before += 1;
        }
        let before = if n < 1000 { 0 } else { seen.before };
        let known = if n < 1000 { String::new() } else { format!("{title} {rate}") };
        let at = cx.row_time();
        cx.emit(Entry { kind: kind.to_owned(), n, customer: Some(customer), count, before, known, at });
        Ok(())
    }

    fn on_broadcast(&mut self, row: Everywhere, cx: &mut SharedContext<'_, Self>) -> Result<(), Failure> {
        let (known, everywhere) = cx.broadcast();
        let (kind, what) = match row {
            Everywhere::Rate(row) => {
                known.rates.change(everywhere).insert(0, row.rate);
                ("rate", row.rate.to_string())
            }
            Everywhere::Title(row) => {
                known.titles.change(everywhere).insert(0, row.title.clone());
                ("title", row.title)
            }
        };
        cx.side(Beside::Known(Fact { kind: kind.to_owned(), what }));
        cx.emit(Entry { kind: kind.to_owned(), n: 0, customer: None, count: 0, before: 0, known: String::new(), at: None });
        Ok(())
    }
}
"#;

/// Rows that appear in a watched folder at once.
fn drop_in(folder: &Path, stream: &str, name: &str, rows: &str) {
    let hidden = folder.join(".arriving");
    std::fs::write(&hidden, rows).expect("written");
    std::fs::rename(hidden, folder.join(stream).join(format!("{name}.json"))).expect("renamed");
}

fn entries(folder: &Path) -> Vec<String> {
    rows(&folder.join("out"))
}

/// Committed rows of a folder, in order.
fn rows(folder: &Path) -> Vec<String> {
    let mut rows = Vec::new();
    for file in std::fs::read_dir(folder).into_iter().flatten().map(|file| file.expect("a file").path()) {
        if file.extension().is_some_and(|extension| extension == "json") {
            rows.extend(std::fs::read_to_string(&file).unwrap_or_default().lines().map(str::to_owned));
        }
    }
    rows.sort();
    rows
}

fn start(binary: &Path, folder: &Path, parallelism: &str) -> Child {
    let mut job = Command::new(binary);
    job.args(["--parallelism", parallelism]).current_dir(folder).stderr(Stdio::piped());
    job.spawn().expect("the pipeline starts")
}

/// A row of each stream by key, for each of ten customers.
fn drop_all(folder: &Path, first: i64) {
    let timed = |who: &str| -> String {
        let row = |n: i64| format!("{{\"{who}\":\"c{}\",\"n\":{},\"at\":\"2026-01-01T00:00:0{n}Z\"}}\n", n, first + n);
        (0..10).map(row).collect()
    };
    drop_in(folder, "orders", &first.to_string(), &timed("customer"));
    drop_in(folder, "payments", &first.to_string(), &timed("payer"));
    let row = |n: i64| format!("{{\"customer\":\"c{n}\",\"n\":{}}}\n", first + n);
    drop_in(folder, "refunds", &first.to_string(), &(0..10).map(row).collect::<String>());
}

#[test]
fn five_streams_come_into_one_operator() {
    let folder = fresh_folder("rust-inputs");
    let flow = folder.join("accounts.flow");
    std::fs::write(&flow, FLOW).expect("written");
    std::fs::write(folder.join("accounts.rs"), RUST).expect("written");
    ["orders", "payments", "refunds", "rates", "titles"]
        .iter()
        .for_each(|stream| std::fs::create_dir(folder.join(stream)).expect("a folder"));
    let binary = build(&flow, &folder);

    let mut job = start(&binary, &folder, "2");
    drop_in(&folder, "rates", "0", "{\"rate\":7}\n");
    drop_in(&folder, "titles", "0", "{\"title\":\"Dr\"}\n");
    drop_all(&folder, 100);
    // Two subtasks read files: the later one may be read first.
    wait_for("the first rows", || entries(&folder).len() >= 34);
    drop_all(&folder, 200);
    // Two subtasks have heard of the rate and of the title; 3 streams of 20 rows have come.
    wait_for("the rows behind them", || entries(&folder).len() >= 64);
    job.kill().expect("killed");
    job.wait().expect("dead");
    let first = entries(&folder);
    assert_eq!(first.len(), 64, "{first:#?}");
    let of_kind = |kind: &str| first.iter().filter(|row| row.contains(&format!("\"kind\":\"{kind}\""))).count();
    assert_eq!(["rate", "title", "order", "payment", "refund"].map(of_kind), [2, 2, 20, 20, 20]);

    // Another parallelism: every subtask still knows the rate and the title, and each customer what was before.
    let job = start(&binary, &folder, "3");
    drop_all(&folder, 1000);
    wait_for("the rows of the second run", || entries(&folder).len() >= 94);
    signal(&job, "TERM");
    assert_success(&job.wait_with_output().expect("the job ends"), "a job that is asked to stop");
    let mut expected = Vec::new();
    for n in 0..10 {
        for (kind, at) in [("order", true), ("payment", true), ("refund", false)] {
            let at = if at { format!("\"2026-01-01T00:00:0{n}Z\"") } else { "null".to_owned() };
            let n_ = 1000 + n;
            expected.push(format!(
                "{{\"kind\":\"{kind}\",\"n\":{n_},\"customer\":\"c{n}\",\"count\":3,\"before\":6,\"known\":\"Dr 7\",\"at\":{at}}}"
            ));
        }
    }
    expected.sort();
    let second: Vec<String> = entries(&folder).into_iter().filter(|row| row.contains("\"known\":\"Dr 7\"")).collect();
    assert_eq!(second, expected);
    assert_eq!(entries(&folder).len(), 94);

    // Both side outputs, exactly once: the counts behind one of them come from the checkpoint, too.
    let refund =
        |n: i64, customer: i64, refunds: i64| format!("{{\"n\":{n},\"customer\":\"c{customer}\",\"refunds\":{refunds}}}");
    let mut expected: Vec<String> =
        (0..10).flat_map(|n| [refund(100 + n, n, 1), refund(200 + n, n, 2), refund(1000 + n, n, 3)]).collect();
    expected.sort();
    assert_eq!(rows(&folder.join("refunds_of")), expected);
    let fact = |name: &str| format!("{{\"name\":\"{name}\"}}");
    assert_eq!(rows(&folder.join("names")), [fact("rate 7"), fact("rate 7"), fact("title Dr"), fact("title Dr")]);
}
