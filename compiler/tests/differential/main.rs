//! Compiled pipelines against others who know what should come out: a real Flink, whose results are recorded, and a plain
//! interpreter, a script over the same files, the rows that stand in the reference. All pipelines are built as one binary.

mod bundle;
#[path = "../docs_support/examples.rs"]
mod examples;
mod flights;
mod flink;
mod interpreter;
mod pages;
mod pairs;
mod random;
mod rows;
mod spec;

use std::sync::LazyLock;

static BUNDLE: LazyLock<bundle::Bundle> = LazyLock::new(|| {
    let mut pipelines = flink::pipelines();
    pipelines.extend(flights::pipelines());
    pipelines.extend(random::pipelines());
    pipelines.extend(pages::pipelines());
    bundle::Bundle::build("differential", &pipelines)
});

#[test]
fn results_equal_those_of_flink() {
    flink::check(&BUNDLE);
}

#[test]
fn flights_equal_an_independent_computation() {
    flights::check(&BUNDLE);
}

#[test]
fn random_pipelines_equal_the_interpreter() {
    random::check(&BUNDLE, &random::SINGLE);
}

#[test]
fn random_joins_and_sets_equal_the_interpreter() {
    random::check(&BUNDLE, &random::PAIRS);
}

#[test]
fn examples_of_the_reference_give_the_rows_below_them() {
    pages::check(&BUNDLE);
}
