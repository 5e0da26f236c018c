//! What rustc says about wrong pipelines and wrong calls: `tests/misuse/<name>.rs`, and beside it its messages.
//! `TRYBUILD=overwrite` writes them anew.

#[test]
fn messages_are_as_recorded() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/misuse/*.rs");
}

/// A program whose pipeline needs a feature hears of it by name: see `runtime/millstream/src/needs.rs`.
#[test]
fn every_feature_has_its_gate() {
    let gates = include_str!("../../../runtime/millstream/src/needs.rs");
    let connectors = millstream::connectors::CONNECTORS.iter().filter_map(|connector| connector.feature);
    let functions = millstream::functions::FUNCTIONS.iter().filter_map(|function| function.feature);
    for feature in connectors.chain(functions) {
        assert!(gates.contains(&format!("gate!($ needs_{feature} \"{feature}\");")), "no gate for `{feature}`");
    }
}
