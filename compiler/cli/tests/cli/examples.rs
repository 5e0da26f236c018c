//! Every example is built by the command and run at parallelism 1, 2 and 4; its output equals the expected rows.

use std::process::Command;

use crate::support::{self, compare};

/// 51,955 real flights: equal to an independent computation, whatever the parallelism and in whatever order files are read.
#[test]
fn flight_delays() {
    let example = support::root().join("examples/flight_delays");
    let folder = support::fresh_folder("flight_delays");
    let binary = support::build(&example.join("flight_delays.flow"), &folder);
    let columns: compare::Columns =
        [("carrier", "STRING"), ("day", "TIMESTAMP"), ("flights", "BIGINT"), ("mean", "DOUBLE"), ("worst", "BIGINT")]
            .map(|(name, ty)| (name.to_string(), ty.to_string()))
            .into();
    let rows = compare::read(&example.join("expected/delays.jsonl.gz"), &columns);
    std::os::unix::fs::symlink(example.join("data"), folder.join("data")).expect("a link to the data");
    for parallelism in ["1", "2", "4"] {
        let output = Command::new(&binary)
            .args(["--parallelism", parallelism])
            .current_dir(&folder)
            .output()
            .expect("the pipeline starts");
        let what = format!("flight delays at parallelism {parallelism}");
        support::assert_success(&output, &what);
        compare::assert_same(&compare::read(&folder.join("out/delays"), &columns), &rows, &what);
    }
}

/// The archive, then the inbox without the days that both have.
#[test]
fn hybrid() {
    let example = support::root().join("examples/hybrid");
    let folder = support::fresh_folder("hybrid");
    let binary = support::build(&example.join("hybrid.flow"), &folder);
    let columns: compare::Columns = [("day", "TIMESTAMP"), ("flights", "BIGINT"), ("worst", "BIGINT")]
        .map(|(name, ty)| (name.to_string(), ty.to_string()))
        .into();
    let rows = compare::read(&example.join("expected/days.jsonl"), &columns);
    std::os::unix::fs::symlink(example.join("data"), folder.join("data")).expect("a link to the data");
    for parallelism in ["1", "2", "3"] {
        let output = Command::new(&binary)
            .args(["--parallelism", parallelism])
            .current_dir(&folder)
            .output()
            .expect("the pipeline starts");
        let what = format!("hybrid at parallelism {parallelism}");
        support::assert_success(&output, &what);
        compare::assert_same(&compare::read(&folder.join("out/days"), &columns), &rows, &what);
        std::fs::remove_dir_all(folder.join("out")).expect("the output can be removed");
    }
}

/// The words of two sonnets, counted here by other means.
#[test]
fn word_count() {
    let example = support::root().join("examples/word_count");
    let folder = support::fresh_folder("word_count");
    let binary = support::build(&example.join("word_count.flow"), &folder);
    std::os::unix::fs::symlink(example.join("data"), folder.join("data")).expect("a link to the data");
    let mut expected = std::collections::BTreeMap::<String, i64>::new();
    for file in ["sonnet_18.txt", "sonnet_116.txt"] {
        let text = std::fs::read_to_string(example.join("data").join(file)).expect("the text").to_lowercase();
        for word in text.split(|c: char| !c.is_ascii_lowercase() && c != '\'').filter(|word| !word.is_empty()) {
            *expected.entry(word.to_string()).or_default() += 1;
        }
    }
    let output = Command::new(&binary).current_dir(&folder).output().expect("the pipeline starts");
    support::assert_success(&output, "word count");
    let mut actual = std::collections::BTreeMap::<String, i64>::new();
    for file in compare::files(&folder.join("out")) {
        let text = compare::text(&file);
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("word,count"), "{}", file.display());
        for line in lines {
            let (word, count) = line.split_once(',').expect("two columns");
            *actual.entry(word.to_string()).or_default() += count.parse::<i64>().expect("a count");
        }
    }
    assert_eq!(actual, expected);
}

/// The result is on standard output; the broken row is counted in the summary on standard error.
#[test]
fn orders() {
    let example = support::root().join("examples/orders");
    let folder = support::fresh_folder("orders");
    let binary = support::build(&example.join("orders.flow"), &folder);
    let run = |args: &[&str]| {
        let output = Command::new(&binary).args(args).current_dir(&example).output().expect("the pipeline starts");
        support::assert_success(&output, "orders");
        let mut rows: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect();
        rows.sort();
        (rows, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let mut expected: Vec<String> = compare::text(&example.join("expected/revenue.jsonl")).lines().map(str::to_string).collect();
    expected.sort();
    let (rows, summary) = run(&[]);
    assert_eq!(rows, expected);
    assert!(summary.contains("skipped") && summary.contains('1'), "the summary counts the broken row: {summary}");
    let (rows, _) = run(&["--since", "2026-01-01T10:00:00Z"]);
    assert_eq!(rows, [r#"{"customer":"bob","start":"2026-01-01T10:00:00Z","orders":1,"total":"25.00"}"#]);
}

/// Overflow, division by zero and records that cannot be read stop nothing and are all in the stream of errors.
#[test]
fn enrich() {
    let example = support::root().join("examples/enrich");
    let folder = support::fresh_folder("enrich");
    let binary = support::build(&example.join("enrich.flow"), &folder);
    std::os::unix::fs::symlink(example.join("data"), folder.join("data")).expect("a link to the data");
    for parallelism in ["1", "2"] {
        let command = ["--parallelism", parallelism, "--fresh", "--replace"];
        let output = Command::new(&binary).args(command).current_dir(&folder).output().expect("the pipeline starts");
        support::assert_success(&output, "enrich");
        for name in ["priced", "taxed", "to_send", "rejected", "hourly", "bursts", "latest"] {
            let what = format!("{name} at parallelism {parallelism}");
            let lines = |text: String| {
                // The place in the text begins with the path that the compiler was given.
                let folder = example.to_string_lossy().into_owned() + "/";
                let mut lines: Vec<String> = text.lines().map(|line| line.replace(&folder, "")).collect();
                lines.sort();
                lines
            };
            let expected = lines(compare::text(&example.join(format!("expected/{name}.jsonl"))));
            let found = compare::files(&folder.join("out").join(name)).iter().map(|file| compare::text(file)).collect();
            assert_eq!(lines(found), expected, "{what}");
        }
    }
}

/// State, timers and side outputs of operators in Rust.
#[test]
fn fraud() {
    let example = support::root().join("examples/fraud");
    let folder = support::fresh_folder("fraud");
    let binary = support::build(&example.join("fraud.flow"), &folder);
    std::os::unix::fs::symlink(example.join("data"), folder.join("data")).expect("a link to the data");
    for parallelism in ["1", "2", "4"] {
        let command = ["--parallelism", parallelism, "--fresh", "--replace"];
        let output = Command::new(&binary).args(command).current_dir(&folder).output().expect("the pipeline starts");
        support::assert_success(&output, "fraud");
        for name in ["alerts", "calm", "lost", "above", "near", "unlimited"] {
            let lines = |text: String| {
                let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                lines.sort();
                lines
            };
            let expected = lines(compare::text(&example.join(format!("expected/{name}.jsonl"))));
            let found = compare::files(&folder.join("out").join(name)).iter().map(|file| compare::text(file)).collect();
            assert_eq!(lines(found), expected, "{name} at parallelism {parallelism}");
        }
    }
}

#[test]
fn bad_rows() {
    let example = support::root().join("examples/bad_rows");
    let folder = support::fresh_folder("bad_rows");
    let binary = support::build(&example.join("bad_rows.flow"), &folder);
    std::os::unix::fs::symlink(example.join("data"), folder.join("data")).expect("a link to the data");
    for parallelism in ["1", "2"] {
        let command = ["--parallelism", parallelism, "--fresh", "--replace"];
        let output = Command::new(&binary).args(command).current_dir(&folder).output().expect("the pipeline starts");
        support::assert_success(&output, "bad rows");
        for name in ["divided", "bad"] {
            let mut expected: Vec<String> =
                compare::text(&example.join(format!("expected/{name}.jsonl"))).lines().map(str::to_string).collect();
            let mut rows: Vec<String> = compare::files(&folder.join("out").join(name))
                .iter()
                .flat_map(|file| compare::text(file).lines().map(str::to_string).collect::<Vec<_>>())
                .collect();
            // The place in the text begins with the path that the compiler was given.
            let folder = example.to_string_lossy().into_owned() + "/";
            rows.iter_mut().for_each(|row| *row = row.replace(&folder, ""));
            expected.sort();
            rows.sort();
            assert_eq!(rows, expected, "{name} at parallelism {parallelism}");
        }
        let summary = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(summary.contains("divided: select: 2 to the stream of errors"), "{summary}");
        assert!(summary.contains("pairs: 1 to the stream of errors: is not an integer"), "{summary}");
    }
}
