//! The lookup against a service that knows some keys, refuses some and hesitates with others.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use millstream_runtime::formats::JsonFormat;
use millstream_runtime::lookup::{Answer, KeyedTable};
use millstream_runtime::options::Options;
use millstream_runtime::value::Str;
use millstream_testkit::http::{Reply, serve};

use crate::HttpLookup;
use crate::lookup::same;

#[derive(Clone, Debug, PartialEq, millstream_runtime::codegen::Record)]
struct Rate {
    currency: Str,
    rate: f64,
}

/// What is asked for, and what comes.
fn service(asked: &Arc<AtomicU32>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = asked.clone();
    serve(listener, move |request| {
        asked.fetch_add(1, Ordering::Relaxed);
        let key = request.head.split(' ').nth(1).unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned();
        let (status, body) = match key.as_str() {
            "eur?t=secret" => ("200 OK", "{\"currency\": \"EUR\", \"rate\": 0.9, \"more\": [1]}".to_owned()),
            "two?t=secret" => ("200 OK", "[{\"currency\":\"two\",\"rate\":1}, {\"currency\":\"two\",\"rate\":2}]".to_owned()),
            "other?t=secret" => ("200 OK", "[{\"currency\":\"other\",\"rate\":1}, {\"currency\":\"USD\",\"rate\":2}]".to_owned()),
            "bad?t=secret" => ("200 OK", "{\"currency\": \"BAD\", \"rate\": \"many\"}".to_owned()),
            "busy?t=secret" => ("503 Service Unavailable\r\nretry-after: 7", "later".to_owned()),
            "forbidden?t=secret" => ("403 Forbidden", "no".to_owned()),
            "a%2fb?t=secret" => ("200 OK", "{\"currency\": \"a/b\", \"rate\": 5}".to_owned()),
            _ => ("404 Not Found", "what?".to_owned()),
        };
        Reply::Answer(format!("{status}\r\ncontent-length: {}\r\n\r\n{body}", body.len()))
    });
    format!("http://{address}/rates/{{currency}}?t=secret")
}

fn lookup(url: &str) -> HttpLookup<Rate, JsonFormat> {
    let options = Options::new().with("url", url).with_columns("key", &["currency"]).with_block("format", "json", Options::new());
    HttpLookup::from_options(&options).unwrap()
}

fn rows(answer: Answer<Rate>) -> Vec<(String, f64)> {
    match answer {
        Answer::Rows(rows) => rows.into_iter().map(|row| (row.currency.to_string(), row.rate)).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn keys_are_the_same_as_values() {
    assert!(same("string", "EUR", "EUR") && !same("string", "EUR", "eur") && !same("string", "1.5", "1.50"));
    let decimal = |a: &str, b: &str| same("decimal(38, 20)", a, b);
    assert!(decimal("1.5", "1.50") && decimal("-0.50", "-.5") && decimal("007", "7.0") && decimal("-0.0", "0"));
    assert!(
        !decimal("1.5", "-1.5") && !decimal("1.5", "1.51") && !decimal("15", "1.5") && !decimal("1", "one") && !decimal(".", "")
    );
    // As floats these would be one.
    assert!(!decimal("0.12345678901234567891", "0.12345678901234567892"));
    assert!(!same("int64", "9007199254740993", "9007199254740992"));
    assert!(same("float64?", "1.5", "1.50") && same("float64", "1e3", "1000.0") && !same("float64", "1.5", "1.6"));
}

#[test]
fn answers_are_rows_or_none_or_reasons() {
    let lookup = lookup(&service(&Arc::default()));
    let ask = |key: &str| lookup.ask(&[Str::from(key)]);
    assert_eq!(rows(ask("EUR")), [("EUR".to_owned(), 0.9)]);
    assert_eq!(rows(ask("two")), [("two".to_owned(), 1.0), ("two".to_owned(), 2.0)]);
    assert_eq!(rows(ask("a/b")), [("a/b".to_owned(), 5.0)]);
    assert_eq!(rows(ask("unknown")), []);
    let Answer::Retry { reason, after } = ask("busy") else { panic!() };
    assert_eq!(after, Some(std::time::Duration::from_secs(7)));
    assert!(reason.ends_with("/rates/{currency} with currency = busy: 503 Service Unavailable: later"), "{reason}");
    let Answer::Failed(error) = ask("forbidden") else { panic!() };
    assert!(error.message().ends_with("with currency = forbidden: 403 Forbidden: no"), "{error}");
    let Answer::Failed(error) = ask("other") else { panic!() };
    let said = "with currency = other: the answer is a row with currency = USD, which is not the key that was asked for";
    assert!(error.message().ends_with(said), "{error}");
    let Answer::Failed(error) = ask("bad") else { panic!() };
    assert!(error.message().contains("rate") && error.message().contains("many"), "{error}");
    assert!(!error.message().contains("secret"), "{error}");
}

#[test]
fn a_service_that_is_not_there_is_asked_again() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let answer = lookup(&format!("http://{gone}/{{currency}}")).ask(&[Str::from("EUR")]);
    assert!(matches!(answer, Answer::Retry { after: None, .. }), "{answer:?}");
}
