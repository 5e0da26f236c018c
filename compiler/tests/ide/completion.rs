//! Completion, in whole texts and in those that are only begun.

use super::support::{completions, offers, offers_only};

const SHOP: &str = "use rust \"own.rs\"
param enough: int64 = 1
record Order { id: int64, amount: int64, note: string?, placed_at: timestamp }
record Payment { order: int64, method: string }
source orders: Order from file { path: \"o\" } watermark placed_at
source payments: Payment from file { path: \"p\" }
fn double(x: int64) = x * 2
";

fn shop(text: &str) -> String {
    format!("{SHOP}{text}")
}

#[test]
fn items_begin_lines() {
    offers("$0", &["source", "stream", "use", "fn"], &["where"]);
    offers("job a {}\n\nso$0", &["source"], &["where"]);
    offers(&shop("st$0\nstream a = orders"), &["stream", "source"], &[]);
    offers("use $0", &["rust", "crate"], &["source"]);
}

#[test]
fn connectors_of_each_side() {
    offers("source a: A from $0", &["file", "generator", "hybrid"], &["stdout", "poll"]);
    offers("use rust \"own.rs\"\nsource a: Reading from $0", &["poll", "file"], &["stdout"]);
    offers("use crate own\nsource a: Reading from po$0", &["poll"], &[]);
    offers("sink a into $0", &["stdout", "file", "blackhole"], &["generator", "poll", "hybrid"]);
    offers("lookup a: A from $0 key (id)", &["file", "http"], &["generator", "hybrid"]);
    offers("source a: A from hybrid { old = $0 }", &["file"], &["stdout"]);
}

#[test]
fn options_of_ones_own_connector() {
    let all = ["url", "wait", "method", "since", "until", "format"];
    offers_only("use rust \"own.rs\"\nsource a: Reading from poll { $0 }", &all);
    // The text may end here.
    offers_only("use rust \"own.rs\"\nsource a: Reading from poll { $0", &all);
    offers_only("use rust \"own.rs\"\nsource a: Reading from poll {\n    url: \"x\"\n    $0\n}\n\njob x {}", &all[1..]);
    offers_only("use rust \"own.rs\"\nsource a: Reading from poll { url: \"x\", wait: 5s, m$0", &all[2..]);
    let list = completions("use rust \"own.rs\"\nsource a: Reading from poll { $0 }");
    let url = list.iter().find(|offer| offer.label == "url").unwrap();
    assert_eq!((url.detail.as_str(), url.insert.as_str()), ("string, must be given", "url: "));
    assert!(url.doc.contains("Address of the service."), "{}", url.doc);
    let wait = list.iter().find(|offer| offer.label == "wait").unwrap();
    assert_eq!(wait.detail, "duration = 30s");
}

#[test]
fn values_of_options() {
    offers_only("use rust \"own.rs\"\nsource a: Reading from poll { url: \"x\", method: $0 }", &["get", "post"]);
    offers_only("source a: A from file { path: \"x\", format: $0 }", &["json", "csv", "text"]);
    offers("source a: A from file { format: csv { $0 } }", &["null", "header"], &["path", "format"]);
    offers("source a: A from file { format: csv { header: $0", &["true", "false"], &["path"]);
    offers(&shop("sink orders into file { path: $0 }"), &["enough"], &["amount", "path"]);
    offers(&shop("sink orders into file { path: \"x\", partition: [$0] }"), &["amount", "note"], &["enough"]);
    // Text is no place for names.
    offers_only("source a: A from file { path: \"$0\" }", &[]);
}

#[test]
fn clauses_stand_behind_connectors() {
    offers(&shop("source a: Order from file { path: \"x\" } $0"), &["watermark", "on error", "idle after"], &["key", "where"]);
    offers(&shop("source a: Order from file { path: \"x\" } watermark $0"), &["placed_at", "amount"], &["watermark"]);
    offers(&shop("source a: Order from file { path: \"x\" } on error $0"), &["skip", "into"], &["watermark"]);
    offers(&shop("sink orders into stdout $0"), &["key"], &["watermark"]);
    offers(&shop("lookup l: Order from file { path: \"x\" } key ($0)"), &["id", "amount"], &["enough"]);
}

#[test]
fn types_and_streams() {
    offers(&shop("source a: $0 from file {}"), &["Order", "Reading"], &["orders"]);
    offers("record A {\n    a: $0\n    b: int64\n}", &["string", "list"], &["where"]);
    offers("record A {\n    a: list<$0\n}", &["string"], &[]);
    offers("record A {\n    a: int64\n    $0\n}", &[], &["string"]);
    offers(&shop("param x: $0"), &["date"], &["orders"]);
    offers(&shop("fn f(a: $0"), &["date", "Order"], &["orders"]);
    offers(&shop("fn f(a: int64): $0"), &["date"], &["orders"]);
    offers(&shop("stream a = $0"), &["orders", "payments"], &["a", "amount"]);
    offers(&shop("stream a = orders | union $0"), &["payments"], &["a", "amount"]);
    offers(&shop("stream a = orders | left join $0"), &["payments"], &["amount"]);
    offers(&shop("sink $0"), &["orders"], &["amount"]);
    offers(&shop("sink orders $0"), &["into"], &["amount"]);
}

#[test]
fn operators_and_their_clauses() {
    offers(&shop("stream a = orders | $0"), &["where", "aggregate", "left join"], &["amount", "orders"]);
    offers(&shop("stream a = orders\n    | where amount > 1\n    | s$0\n\nstream b = a"), &["select", "sort"], &[]);
    offers(&shop("stream a = orders | @$0"), &["id", "parallelism"], &["where"]);
    offers(&shop("stream a = orders | @id(\"x\") $0"), &["where"], &[]);
    offers(&shop("stream a = orders | aggregate $0"), &["by", "over"], &[]);
    offers(&shop("stream a = orders | aggregate by id over $0"), &["tumbling", "session"], &["amount"]);
    offers(&shop("stream a = orders | left $0"), &["join"], &["where"]);
    offers(&shop("stream a = orders | process $0"), &["Smooth", "by"], &["where"]);
    offers(&shop("stream a = orders | process by id $0"), &["Smooth"], &["where"]);
    offers_only(&shop("stream a = orders | process by id Smooth { $0 }"), &["most"]);
}

#[test]
fn columns_in_expressions() {
    let row = ["id", "amount", "note", "enough", "double", "fahrenheit", "abs", "if"];
    offers(&shop("stream a = orders | where $0"), &row, &["method", "sum", "orders"]);
    offers(&shop("stream a = orders | where amount > $0 and id == 3"), &row, &["method"]);
    offers(&shop("stream a = orders | where am$0\n\nsink a into stdout"), &row, &["method"]);
    offers(&shop("stream a = orders | where amount $0"), &["and", "is null", "in"], &["id"]);
    offers(&shop("stream a = orders | select { id, $0 }"), &row, &["method"]);
    offers(&shop("stream a = orders | select { key: id } | where $0"), &["key"], &["id", "amount"]);
    offers(&shop("stream a = orders | select { key: id } | where (key == $0"), &["key"], &["amount"]);
    // Behind an operator that does not parse nothing is known.
    offers(&shop("stream a = orders | wher x | select { $0"), &["abs"], &["method"]);
    offers(&shop("fn f(one: int64) = $0"), &["one", "double"], &["amount", "enough"]);
    offers(&shop("stream a = orders | select { x: match note { \"a\" => $0 } }"), &["amount"], &[]);
}

#[test]
fn what_aggregates_see() {
    let text = "stream a = orders | aggregate by note over tumbling(1h) { note, $0 }";
    offers(&shop(text), &["note", "sum", "count", "window"], &["amount"]);
    offers(&shop("stream a = orders | aggregate by note { total: sum($0) }"), &["amount", "id"], &["window"]);
    offers_only(&shop("stream a = orders | aggregate by note over tumbling(1h) { day: window.$0 }"), &["start", "end"]);
    offers(&shop("stream a = orders | aggregate by $0"), &["note", "amount"], &["method"]);
}

#[test]
fn sides_of_joins() {
    let join = "stream a = orders | join payments as p on id == p.$0";
    offers_only(&shop(join), &["order", "method"]);
    offers(&shop("stream a = orders | join payments as p on $0"), &["id", "method", "p"], &[]);
    offers(&shop("stream a = orders | join payments as p on id == p.order within 1m | select { $0 }"), &["id", "method"], &[]);
    offers_only(&shop("stream a = orders | join payments as p on id == p.order within 1m | where p.$0"), &["order", "method"]);
}

#[test]
fn fields_of_records() {
    let text = "record A { a: int64 }\nrecord B { inner: A, flat: int64 }\nsource bs: B from file { path: \"x\" }\n";
    offers_only(&format!("{text}stream c = bs | where inner.$0"), &["a"]);
    offers_only(&format!("{text}stream c = bs | select {{ x: inner.$0, flat }}"), &["a"]);
}

#[test]
fn settings_of_the_job() {
    offers("job a { parallelism: 2, $0 }", &["checkpoint", "restart"], &["parallelism"]);
    offers("job a {\n    on error: $0\n}", &["skip"], &["checkpoint"]);
    offers("job a {\n    state: $0", &["disk", "memory"], &["checkpoint"]);
}

#[test]
fn nothing_in_comments_and_numbers() {
    offers_only(&shop("// wh$0"), &[]);
    offers_only(&shop("stream a = orders | where amount > 5$0"), &[]);
    offers_only(&shop("stream $0"), &[]);
    offers_only(&shop("stream a = orders | explode note as $0"), &[]);
}

#[test]
fn names_that_need_it_are_quoted() {
    let list =
        completions("record A { `two words`: int64, in: int64 }\nsource a: A from file { path: \"x\" }\nstream b = a | where $0");
    let insert = |label: &str| list.iter().find(|offer| offer.label == label).map(|offer| offer.insert.clone());
    assert_eq!(insert("two words").as_deref(), Some("`two words`"));
}
