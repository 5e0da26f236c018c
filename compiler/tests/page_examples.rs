//! The examples on the pages of codes are true: the wrong one gives the code, the right one gives no error.
//!
//! An example shows only what matters, so what it leaves out stands in `PRELUDE`; what it defines itself is taken from there.

use millstream_compiler::diagnostics::codes::PAGES;
use millstream_compiler::diagnostics::{Diagnostic, Severity};
use millstream_compiler::session::{Loader, Session};

const PRELUDE: &[(&str, &str)] = &[
    (
        "Order",
        "record Order { id: int64, customer: string, country: string, amount: decimal(10, 2), total: decimal(10, 2), price: decimal(10, 2), quantity: int32, note: string?, placed_at: timestamp, shipped_at: timestamp?, words: list<string>, labels: map<string, string> }",
    ),
    ("orders", "source orders: Order from file { path: \"orders.jsonl\" } watermark placed_at - 5s"),
    ("refunds", "source refunds: { id: int64, amount: float64 } from file { path: \"refunds.jsonl\" }"),
    ("Flight", "record Flight { carrier: string, dep_delay: int32? }"),
    ("flights", "source flights: Flight from file { path: \"flights.csv\", format: csv }"),
    ("Line", "record Line { line: string }"),
    ("lines", "source lines: { line: string, words: list<string> } from file { path: \"lines.jsonl\" }"),
    ("people", "source people: { id: int64, name: string } from file { path: \"people.jsonl\" }"),
    ("Bid", "record Bid { price: int64 }"),
    ("Event", "record Event { bid: { price: int64 }, payload: json, other_payload: json }"),
    ("events", "source events: Event from file { path: \"events.jsonl\" }"),
    ("trades", "source trades: { bid: int64, ask: int64 } from file { path: \"trades.jsonl\" }"),
    ("logs", "source logs: { code: int64 } from file { path: \"logs.jsonl\" }"),
    ("input", "source input: { x: int64 } from file { path: \"input.jsonl\" }"),
    (
        "totals",
        "source totals: { id: int64, customer: string, total: decimal(10, 2), day: date } from file { path: \"totals.jsonl\" }",
    ),
];

/// What stands in the Rust file of an example.
const RUST: &str = r#"
use millstream::prelude::*;

/// A table elsewhere.
#[derive(Clone, Debug, Connector)]
#[flow(keyed)]
pub struct Mirror {
    /// Where it is.
    pub url: String,
}

impl TableSinkConnector for Mirror {
    type Sink<T: Record, F: Format> = MirrorSink<F>;

    fn table_sink<T: Record, F: Format>(self, format: F, key: TableKey) -> JobResult<MirrorSink<F>> {
        Ok(MirrorSink { url: self.url, format, key })
    }
}
"#;

struct Text(String);

impl Loader for Text {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        Ok(if path.ends_with(".rs") { RUST.to_owned() } else { self.0.clone() }.into_bytes())
    }
}

fn check(example: &str, plan: bool) -> Vec<Diagnostic> {
    let defines = |name: &str| {
        ["record", "source", "stream", "param"].iter().any(|word| {
            example.lines().any(|line| {
                line.strip_prefix(word).is_some_and(|rest| {
                    let rest = rest.trim_start();
                    rest.strip_prefix(name).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
                })
            })
        })
    };
    let prelude: Vec<&str> = PRELUDE.iter().filter(|(name, _)| !defines(name)).map(|(_, text)| *text).collect();
    let text = format!("{example}\n{}\n", prelude.join("\n"));
    let mut session = Session::open("page.flow", &Text(text)).expect("the text is there");
    if plan {
        session.plan();
    }
    session.diagnostics().to_vec()
}

fn examples(page: &str, heading: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in page.split(&format!("\n{heading}:\n")).skip(1) {
        let text = part.split("```flow\n").nth(1).and_then(|text| text.split("\n```").next());
        found.extend(text.map(str::to_owned));
    }
    found
}

#[test]
fn pages_of_lowering_and_planning_are_true() {
    let mut problems = Vec::new();
    for page in PAGES
        .iter()
        // Examples of the others are Rust.
        .filter(|page| !page.code.starts_with("W08") && page.code != "W0203")
        .filter(|page| ["E02", "E03", "E04", "E05", "E06", "E07", "W0"].iter().any(|start| page.code.starts_with(start)))
    {
        // Examples of the other codes have no sinks.
        let plan = page.code.starts_with("E07");
        let wrong = examples(page.text, "Wrong");
        let right = examples(page.text, "Right");
        assert!(!wrong.is_empty() && !right.is_empty(), "{} has no examples", page.code);
        for example in wrong {
            let found = check(&example, plan);
            if !found.iter().any(|diagnostic| diagnostic.code.0 == page.code) {
                problems.push(format!("{}: the wrong example does not give it\n{example}\n{}", page.code, listed(&found)));
            }
        }
        for example in right {
            let found: Vec<Diagnostic> = check(&example, plan)
                .into_iter()
                .filter(|diagnostic| diagnostic.severity == Severity::Error || diagnostic.code.0 == page.code)
                .filter(|diagnostic| diagnostic.code.0 != "W0202")
                .collect();
            if !found.is_empty() {
                problems.push(format!("{}: the right example is not right\n{example}\n{}", page.code, listed(&found)));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

fn listed(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| format!("    {} {}\n", diagnostic.code.0, diagnostic.title)).collect()
}
