//! Lookups of a built pipeline, in a file and at a web service, and maps that are taken apart.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::support::{self, compare};
use millstream_testkit::http::{Reply, serve};

const FLOW: &str = r#"
job lookups {}

record Order { id: int64, currency: string?, labels: map<string, int64>? }
record Rate { currency: string, rate: float64 }
record Name { currency: string, name: string }

source orders: Order from file { path: "orders.jsonl", format: json }
lookup rates: Rate from file { path: "rates.csv", format: csv } key (currency) cache 10m
lookup names: Name from http { url: $NAMES_URL } key (currency) cache 10m up to 10 rows

stream priced = orders | left join rates as r on currency == r.currency and r.rate < 100.0 | select { id, rate: r.rate }
stream named = orders | join names as n on currency == n.currency | select { id, name: n.name }
stream labelled = orders | explode labels as label | select { id, key: label.key, value: label.value }

sink priced into file { path: "out/priced", format: json }
sink named into file { path: "out/named", format: json }
sink labelled into file { path: "out/labelled", format: json }
"#;

const ORDERS: &str = r#"{"id":1,"currency":"EUR","labels":{"a":1,"b":2}}
{"id":2,"currency":"JPY","labels":{}}
{"id":3,"currency":null,"labels":null}
{"id":4,"currency":"USD","labels":{"a":10}}
{"id":5,"currency":"EUR","labels":null}
{"id":6,"currency":"","labels":null}
"#;

/// Knows two currencies, has never heard of others, and does not answer about dollars at first. The address of a key, and the
/// keys that it was asked for.
fn service() -> (String, Arc<Mutex<BTreeSet<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let asked: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let seen = asked.clone();
    serve(listener, move |request| {
        let path = request.head.split(' ').nth(1).unwrap_or_default().to_owned();
        let key = path.rsplit('/').next().unwrap_or_default().to_owned();
        let first = seen.lock().expect("no panic").insert(key.clone());
        let (status, body) = match key.as_str() {
            "usd" if first => ("503 Service Unavailable\r\nretry-after: 0", ""),
            "usd" => ("200 OK", r#"{"currency":"USD","name":"Dollar"}"#),
            "eur" => ("200 OK", r#"[{"currency":"EUR","name":"Euro"}]"#),
            _ => ("404 Not Found", ""),
        };
        Reply::Answer(format!("{status}\r\ncontent-length: {}\r\n\r\n{body}", body.len()))
    });
    (format!("http://{address}/names/{{currency}}"), asked)
}

/// These columns of the rows of a sink.
fn rows(folder: &Path, columns: &[&str]) -> Vec<String> {
    let text: String = compare::files(folder).iter().map(|file| compare::text(file)).collect();
    let columns_of = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).expect("a row is JSON");
        columns.iter().map(|column| row[*column].to_string()).collect::<Vec<_>>().join(" ")
    };
    let mut rows: Vec<String> = text.lines().map(columns_of).collect();
    rows.sort();
    rows
}

#[test]
fn rows_find_theirs_in_files_and_services() {
    let folder = support::fresh_folder("lookups");
    for (name, text) in
        [("lookups.flow", FLOW), ("orders.jsonl", ORDERS), ("rates.csv", "currency,rate\nEUR,0.9\nJPY,150\nUSD,1.1\nUSD,1.2\n")]
    {
        std::fs::write(folder.join(name), text).expect("written");
    }
    let binary = support::build(&folder.join("lookups.flow"), &folder);
    for parallelism in ["1", "2"] {
        let (url, asked) = service();
        let output = Command::new(&binary)
            .args(["--parallelism", parallelism, "--fresh", "--replace"])
            .env("NAMES_URL", url)
            .current_dir(&folder)
            .output()
            .expect("the pipeline starts");
        support::assert_success(&output, "lookups");
        let out = |name: &str| folder.join("out").join(name);
        // A rate of 150 is none of `on`, two rows of a key are two, and neither a null nor an empty text is found.
        let priced = ["1 0.9", "2 null", "3 null", "4 1.1", "4 1.2", "5 0.9", "6 null"];
        assert_eq!(rows(&out("priced"), &["id", "rate"]), priced);
        assert_eq!(rows(&out("named"), &["id", "name"]), ["1 \"Euro\"", "4 \"Dollar\"", "5 \"Euro\""]);
        assert_eq!(rows(&out("labelled"), &["id", "key", "value"]), ["1 \"a\" 1", "1 \"b\" 2", "4 \"a\" 10"]);
        let asked: Vec<String> = asked.lock().expect("no panic").iter().cloned().collect();
        assert_eq!(asked, ["eur", "jpy", "usd"], "the empty text has no address");
    }
}
