//! A sink of the user's own that tables are written to: with the key that the table has, with another one, with a stream, and by a derive.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::support::{self, assert_success, build, fresh_folder};

const FLOW: &str = r#"job books { parallelism: 2 }

use rust "book.rs"

record Row { id: int64, `user name`: string, amount: int64 }
source rows: Row from file { path: "rows.jsonl" }

stream by_user = rows | aggregate by `user name` { `user name`, total: sum(amount) }
stream users = by_user | select { user: `user name`, total }

sink by_user into book { path: "by_user" }
sink users into book { path: "by_total" } key (total)
sink rows into book { path: "rows" } key (id)
sink rows into both { path: "plain" }
sink by_user into both { path: "changes" }

// Its sink stands beside its record.
stream by_amount = rows | aggregate by amount { amount, n: count() }
"#;

const BOOK: &str = r#"use std::io::Write;

use millstream::formats::Encoder;
use millstream::prelude::*;
use millstream::sink::{Sink, SinkContext, SinkWriter};

/// How often each amount came, under the number of times.
#[derive(Clone, Record, Sink)]
#[sink(of = by_amount, into = book { path: "by_amount" }, key = (n))]
pub struct ByAmount {
    pub amount: i64,
    pub n: i64,
}

/// Writes down what happens to rows.
#[derive(Clone, Connector)]
#[flow(keyed)]
pub struct Book {
    /// The file.
    pub path: String,
}

impl TableSinkConnector for Book {
    type Sink<T: Record, F: Format> = Changes<F>;

    fn table_sink<T: Record, F: Format>(self, format: F, key: TableKey) -> JobResult<Changes<F>> {
        assert!(key.is_known());
        Ok(Changes { path: self.path, format, key })
    }
}

/// Takes rows of streams as they are, and tables.
#[derive(Clone, Connector)]
pub struct Both {
    /// The file.
    pub path: String,
}

impl TableSinkConnector for Both {
    type Sink<T: Record, F: Format> = Changes<F>;

    fn table_sink<T: Record, F: Format>(self, format: F, key: TableKey) -> JobResult<Changes<F>> {
        Ok(Changes { path: self.path, format, key })
    }
}

impl SinkConnector for Both {
    type Sink<T: Record, F: Format> = Plain;

    fn sink<T: Record, F: Format>(self, _: F) -> JobResult<Plain> {
        Ok(Plain { path: self.path })
    }
}

pub struct Changes<F> {
    path: String,
    format: F,
    key: TableKey,
}

impl<T: Record, F: Format> Sink<Change<T>> for Changes<F> {
    type Writer = Writer<F::Encoder<T>>;

    fn writer(&self, _: &SinkContext) -> JobResult<Self::Writer> {
        Ok(Writer { path: self.path.clone(), encoder: self.format.encoder()?, key: self.key.clone(), lines: Vec::new() })
    }
}

pub struct Writer<E> {
    path: String,
    encoder: E,
    key: TableKey,
    lines: Vec<u8>,
}

impl<T: Record, E: Encoder<T>> SinkWriter<Change<T>> for Writer<E> {
    fn write(&mut self, change: Change<T>) -> JobResult<()> {
        let key: Vec<Str> = self.key.of(&change.row).map(Option::unwrap_or_default).collect();
        self.lines.extend_from_slice(format!("{} {} ", change.kind.name(), key.join(",")).as_bytes());
        self.encoder.encode(&change.row, &mut self.lines);
        Ok(())
    }

    fn prepare_commit(&mut self, _: u64) -> JobResult<Vec<Vec<u8>>> {
        append(&self.path, &std::mem::take(&mut self.lines))
    }
}

fn append(path: &str, lines: &[u8]) -> JobResult<Vec<Vec<u8>>> {
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    let written = file.and_then(|mut file| file.write_all(lines));
    written.map(|()| Vec::new()).map_err(|error| JobError::io("cannot write", &error))
}

pub struct Plain {
    path: String,
}

impl<T: Record> Sink<T> for Plain {
    type Writer = Plain;

    fn writer(&self, _: &SinkContext) -> JobResult<Plain> {
        Ok(Plain { path: self.path.clone() })
    }
}

impl<T: Record> SinkWriter<T> for Plain {
    fn write(&mut self, row: T) -> JobResult<()> {
        let first = row.column_text(0).unwrap_or_default();
        append(&self.path, format!("{first}\n").as_bytes()).map(drop)
    }
}
"#;

/// What stands at last by the changes in a file, of each key.
fn standing(file: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(file).expect("the file of a sink");
    let mut standing = BTreeMap::new();
    for line in text.lines() {
        let (kind, rest) = line.split_once(' ').expect("a kind");
        let (key, row) = rest.split_once(' ').expect("a key");
        match kind {
            "insert" | "update_after" => standing.insert(key.to_owned(), row.to_owned()),
            "update_before" => None,
            "delete" => standing.remove(key),
            other => panic!("{other}: {line}"),
        };
    }
    standing
}

#[test]
fn tables_are_written_to_a_connector_in_rust() {
    let folder = fresh_folder("rust-tables");
    let flow = folder.join("books.flow");
    std::fs::write(&flow, FLOW).expect("written");
    std::fs::write(folder.join("book.rs"), BOOK).expect("written");
    let row =
        |id: i64| format!("{{\"id\":{id},\"user name\":\"u{}\",\"amount\":{}}}\n", id % 5, if id < 100 { id % 7 } else { 0 });
    std::fs::write(folder.join("rows.jsonl"), (0..200).map(row).collect::<String>()).expect("written");
    let binary = build(&flow, &folder);
    let output = Command::new(&binary).current_dir(&folder).output().expect("it starts");
    assert_success(&output, "books");

    let mut totals = BTreeMap::<String, i64>::new();
    for id in 0..100_i64 {
        *totals.entry(format!("u{}", id % 5)).or_default() += id % 7;
    }
    let by_user = standing(&folder.join("by_user"));
    let expected = |user: &str, total: i64| format!("{{\"user name\":\"{user}\",\"total\":{total}}}");
    assert_eq!(by_user.len(), 5);
    for (user, total) in &totals {
        assert_eq!(by_user[user], expected(user, *total));
    }
    assert_eq!(standing(&folder.join("changes")).len(), 5);
    // Under another key: one row for each total that stands, whoever has it.
    let by_total = standing(&folder.join("by_total"));
    let different: std::collections::BTreeSet<_> = totals.values().map(ToString::to_string).collect();
    assert_eq!(by_total.keys().collect::<Vec<_>>(), different.iter().collect::<Vec<_>>());
    // The key of a sink by derive.
    let by_amount = standing(&folder.join("by_amount"));
    assert_eq!(by_amount.keys().map(String::as_str).collect::<Vec<_>>(), ["115", "14", "15"]);
    assert_eq!(by_amount["15"], "{\"amount\":1,\"n\":15}");
    // A stream is a table whose rows stay.
    let rows = std::fs::read_to_string(folder.join("rows")).expect("the rows");
    assert!(rows.lines().all(|line| line.starts_with("insert ")) && standing(&folder.join("rows")).len() == 200);
    let plain = std::fs::read_to_string(folder.join("plain")).expect("plain rows");
    assert_eq!(plain.lines().count(), 200);

    // What it says of itself.
    let listed = support::millstream().args(["connectors", "book", "--of"]).arg(&flow).output().expect("millstream starts");
    let page = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(page.contains("takes streams and tables, with a key"), "{page}");
}
