//! A pipeline that uses Rust files, in a program: the files become modules of the pipeline's, with rows that are converted.

use millstream::RunOptions;

millstream::include_flow!("rust/score.flow");

#[test]
fn functions_and_operators_of_rust_files_run_in_the_program() {
    let params = scored::Params { first: 100 };
    let scored::Running { job, words, counted } = scored::start(params, RunOptions::new().parallelism(2)).unwrap();
    for text in ["one", "three", "one"] {
        words.send_blocking(scored::Word { text: text.into() }).unwrap();
    }
    drop(words);
    let mut found: Vec<_> = counted.map(|row| (row.text.to_string(), row.times, row.length)).collect();
    job.wait().unwrap();
    found.sort();
    assert_eq!(
        found,
        [("one", 101, 3), ("one", 102, 3), ("three", 101, 5)].map(|(text, times, length)| (text.to_owned(), times, length))
    );
}
