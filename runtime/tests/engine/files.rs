//! Jobs without failures: parallelism, kinds of files, policies.

use super::job::{Setup, run};

#[test]
fn the_same_result_at_any_parallelism() {
    for parallelism in ["1", "2", "3", "5"] {
        let setup = Setup::new(20_000, 3);
        assert_eq!(setup.run(&["--parallelism", parallelism]), 0, "parallelism {parallelism}");
        setup.check();
    }
}

#[test]
fn an_empty_result_leaves_an_empty_folder() {
    let setup = Setup::new(0, 1);
    assert_eq!(setup.run(&[]), 0);
    assert!(setup.out().is_dir());
    setup.check();
}

#[test]
fn what_exists_is_kept_added_to_or_replaced() {
    let setup = Setup::new(1000, 1);
    assert_eq!(setup.run(&[]), 0);
    assert_eq!(setup.run(&[]), 1, "the output is there already");
    setup.check();
    assert_eq!(setup.run(&["--replace"]), 0);
    setup.check();
    assert_eq!(setup.run(&["--existing", "replace"]), 0);
    setup.check();
    assert_eq!(setup.run(&["--existing", "append"]), 0);
    assert_eq!(super::job::output(&setup.out()).len(), 2 * super::job::expected(0..1000).len());
}

#[test]
fn wrong_command_lines_end_with_2() {
    assert_eq!(run(&["--input", "x"]), 2, "the output is missing");
    assert_eq!(run(&["--inputs", "x"]), 2);
    assert_eq!(run(&["--help"]), 0);
    let setup = Setup::new(1, 1);
    assert_eq!(setup.run(&["--rate", "many"]), 2);
}

#[test]
fn missing_input_is_a_failure() {
    let setup = Setup::new(1, 1);
    let output = setup.path("out");
    assert_eq!(run(&["--input", "/nowhere/*.jsonl", "--output", &output]), 1);
}

/// C13: files are read one after the other in any order, and none makes the rows of another late.
#[test]
fn an_older_file_that_is_read_later_loses_no_rows() {
    for parallelism in ["1", "2"] {
        let setup = Setup::new(0, 1);
        super::job::write_bids(&setup.folder.path().join("bids-1-newer.jsonl"), 20_000..40_000);
        super::job::write_bids(&setup.folder.path().join("bids-2-older.jsonl"), 0..20_000);
        let setup = Setup { bids: 40_000, ..setup };
        assert_eq!(setup.run(&["--parallelism", parallelism]), 0);
        setup.check();
    }
}

/// C44: bad records are left out one by one, or stop the job at the first.
#[test]
fn bad_records_are_skipped_or_stop_the_job() {
    let setup = Setup::new(1000, 2);
    let good = std::fs::read_to_string(setup.path("bids-0.jsonl")).unwrap();
    let mut lines: Vec<&str> = good.lines().collect();
    lines.insert(500, "null");
    lines.insert(400, "{\"auction\":\"a1\",\"price\":12iii,\"time\":\"1970-01-01T00:00:00Z\"}");
    lines.insert(300, "");
    lines.insert(200, "{\"auction\":\"a1\",");
    lines.insert(100, "{\"auction\":\"a1\",\"price\":\"x\",\"time\":\"1970-01-01T00:00:00Z\"}");
    std::fs::write(setup.path("bids-0.jsonl"), lines.join("\n")).unwrap();
    assert_eq!(setup.run(&[]), 1, "the first one stops it");
    assert_eq!(super::job::output(&setup.out()), [""; 0]);
    assert_eq!(setup.run(&["--on-error", "skip"]), 0);
    setup.check();
}
