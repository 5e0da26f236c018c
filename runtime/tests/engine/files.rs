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
