//! Programs with pipelines in them: written in place, and read from a file.

use std::path::Path;

use millstream::{JobEnd, RunOptions};

millstream::include_flow!("totals.flow");

millstream::flow! {
    /// The total of each customer.
    job totals_in_place {}

    /// The file with the orders.
    param input: string
    /// The folder of the totals.
    param output: string
    /// Smaller orders are left out.
    param least: decimal(10, 2) = 1.50

    record Order { customer: string, amount: decimal(10, 2) }

    source orders: Order from file { path: input, format: json }

    stream totals = orders | where amount >= least | aggregate by customer { customer, orders: count(), total: sum(amount) }

    sink totals | final into file { path: output, format: json }
}

const ORDERS: &str = r#"{"customer":"ann","amount":3.00}
{"customer":"bob","amount":1.00}
{"customer":"ann","amount":4.25}
{"customer":"eve","amount":2.00}
"#;

/// All lines below a folder, in order.
fn lines(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let hidden = entry.file_name().to_string_lossy().starts_with(['.', '_']);
        match entry.path() {
            path if path.is_dir() => found.extend(lines(&path)),
            path if !hidden => found.extend(std::fs::read_to_string(path).unwrap().lines().map(str::to_owned)),
            _ => {}
        }
    }
    found.sort();
    found
}

#[test]
fn both_run_with_typed_params() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("orders.jsonl"), folder.path().join("out"));
    std::fs::write(&input, ORDERS).unwrap();
    let text = |path: &Path| path.to_string_lossy().into_owned();

    let params = totals_in_place::Params::new(text(&input), text(&out));
    assert_eq!(params.least.to_string(), "1.50");
    let running = totals_in_place::start(params, RunOptions::new().parallelism(2)).unwrap();
    assert_eq!(running.job.name(), "totals_in_place");
    assert_eq!(running.job.wait().unwrap(), JobEnd::Finished);
    let expected =
        [r#"{"customer":"ann","orders":2,"total":"7.25"}"#, r#"{"customer":"eve","orders":1,"total":"2.00"}"#].map(str::to_owned);
    assert_eq!(lines(&out), expected);

    // The other one, with a param that is not at its default.
    let out = folder.path().join("out-file");
    let least = millstream::value::Decimal::parse("2.50").unwrap();
    let params = totals_of_file::Params { least, ..totals_of_file::Params::new(text(&input), text(&out)) };
    let running = totals_of_file::start(params, RunOptions::new()).unwrap();
    assert_eq!(running.job.wait().unwrap(), JobEnd::Finished);
    assert_eq!(lines(&out), expected[..1]);
}

/// All types that a param can have go to the job and back as they are.
mod all_types {
    millstream::flow! {
        job params {}
        enum Level { low, high }
        param flag: bool = true
        param count: int32 = -5
        param ratio: float64 = 0.1
        param price: decimal(10, 3) = 1.250
        param name: string = "a \"b\" c"
        param day: date = @2026-02-03
        param clock: time?
        param since: timestamp = @2026-01-02T03:04:05Z
        param patience: duration = 1h30m
        param level: Level = "high"
        param note: string?
        record Line { line: string }
        source lines: Line from file { path: "none/*.txt", format: text }
        stream all = lines | select { flag, count, ratio, price, name, day, clock, since, patience, level, note }
        sink all into blackhole
    }

    #[test]
    fn defaults_are_values_of_their_types() {
        let values = params::Params::default();
        assert_eq!((values.flag, values.count, values.ratio, values.name.as_str()), (true, -5, 0.1, "a \"b\" c"));
        assert_eq!((values.level, values.note.clone()), (params::Level::High, None));
        let given = params::Params { note: Some("x".into()), ..values };
        // An unknown param, or a value that cannot be read back, would be an error here or at the end.
        let running = params::start(given, millstream::RunOptions::new()).unwrap();
        running.job.kill().unwrap();
    }
}
