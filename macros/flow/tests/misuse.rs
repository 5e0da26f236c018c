//! What rustc says about wrong pipelines and wrong calls: `tests/misuse/<name>.rs`, and beside it its messages.
//! `TRYBUILD=overwrite` writes them anew.

#[test]
fn messages_are_as_recorded() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/misuse/*.rs");
}
