//! The program of the example, killed at work again and again: every row comes once.

mod support;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::rows;

/// Killed so often.
const ROUNDS: usize = 5;
/// Orders in a round, one every second, of so many customers in turn.
const ORDERS: usize = 3000;
const CUSTOMERS: usize = 7;

fn start(folder: &Path, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_millstream-builder-example"))
        .args(["--parallelism", "2", "--checkpoint-dir", "checkpoints", "--checkpoint-interval", "20ms"])
        .args(args)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// When an order was.
fn time(second: usize) -> String {
    let minute = second / 60;
    format!("2026-01-{:02}T{:02}:{:02}:{:02}Z", 1 + minute / 1440, minute / 60 % 24, minute % 60, second % 60)
}

/// The minute of an order, as the rows of revenue have it.
fn minute_of(order: usize) -> String {
    format!(r#""minute":"{}""#, time(order / 60 * 60))
}

/// Waits until revenue of the minute of this order can be seen. A job that ends before has failed, and says why.
fn wait_for_revenue(folder: &Path, mut job: Child, order: usize) -> Child {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !rows(&folder.join("out/revenue")).iter().any(|row| row.contains(&minute_of(order))) {
        let ended = job.try_wait().expect("a child").is_some();
        if ended || Instant::now() > deadline {
            let _ = job.kill();
            let output = job.wait_with_output().expect("a child");
            panic!("no revenue of order {order}, then {}:\n{}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    job
}

#[test]
fn every_row_comes_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let (folder, data) = (folder.path(), folder.path().join("data"));
    std::fs::create_dir_all(&data).expect("a folder");
    std::fs::write(data.join("payments.jsonl"), "").expect("a file");
    let add = |round: usize| {
        let orders = (round * ORDERS..(round + 1) * ORDERS)
            .map(|id| format!(r#"{{"id":{id},"customer":"c{}","amount":"1.00","at":"{}"}}"#, id % CUSTOMERS, time(id)) + "\n");
        // The program sees a file when it has its name, and then all of it.
        let new = folder.join("new");
        std::fs::write(&new, orders.collect::<String>()).expect("a file");
        std::fs::rename(new, data.join(format!("orders-{round}.jsonl"))).expect("it can be renamed");
    };
    for round in 0..ROUNDS {
        add(round);
        // The first minutes of the round can be seen, and nothing of the others need be: it is killed at work.
        let mut job = wait_for_revenue(folder, start(folder, &["--watch", "5ms"]), round * ORDERS + 120);
        job.kill().expect("it can be killed");
        job.wait().expect("it is over");
    }
    // To the end of the files that it knows, and of time.
    let output = start(folder, &[]).wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{}: {said}", output.status);
    assert!(said.contains("resuming from checkpoint"), "{said}");

    let orders = ROUNDS * ORDERS;
    let found = rows(&folder.join("out/revenue"));
    let mut expected: Vec<String> = Vec::new();
    for open in 0..orders.div_ceil(60) {
        for customer in 0..CUSTOMERS {
            let count = (open * 60..orders.min((open + 1) * 60)).filter(|id| id % CUSTOMERS == customer).count();
            if count > 0 {
                expected.push(format!(
                    r#"{{"customer":"c{customer}",{},"orders":{count},"total":"{count}.00"}}"#,
                    minute_of(open * 60)
                ));
            }
        }
    }
    expected.sort();
    assert!(
        found == expected,
        "{} rows, expected {}, such as {:?} and {:?}",
        found.len(),
        expected.len(),
        found.first(),
        expected.first()
    );
    // Nobody has paid: an operator with timers has said so of every order, once.
    let mut unpaid: Vec<usize> = rows(&folder.join("out/unpaid")).iter().map(|row| id_of(row)).collect();
    unpaid.sort_unstable();
    assert!(unpaid == (0..orders).collect::<Vec<_>>(), "{} reminders of {orders} orders", unpaid.len());
    assert_eq!(rows(&folder.join("out/late")), [""; 0]);
}

fn id_of(row: &str) -> usize {
    let id = row.split(r#""id":"#).nth(1).and_then(|rest| rest.split([',', '}']).next());
    id.and_then(|id| id.parse().ok()).unwrap_or_else(|| panic!("no id in {row}"))
}
