//! Every example in the manual of functions is true: one pipeline computes them all and their expected values.

use std::fmt::Write as _;

use crate::support;

use millstream_runtime::functions::FUNCTIONS;
use serde_json::Value;

/// One example, as columns `x7` and `y7`.
struct Example {
    function: &'static str,
    expression: &'static str,
    expected: &'static str,
}

fn examples() -> Vec<Example> {
    let examples = FUNCTIONS.iter().flat_map(|function| {
        function.examples.iter().map(|(expression, expected)| Example { function: function.name, expression, expected })
    });
    examples.collect()
}

/// A pipeline of one row. `null` has no type, so it is no column: it is what the other side must be.
fn pipeline(examples: &[Example]) -> String {
    let mut text = String::from(
        "param out: string\n\
         record Row { number: int64 }\n\
         source rows: Row from generator { rows: 1 }\n\
         sink rows | select {\n",
    );
    for (index, example) in examples.iter().enumerate() {
        writeln!(text, "    x{index}: {},", example.expression).expect("memory");
        if example.expected != "null" {
            writeln!(text, "    y{index}: {},", example.expected).expect("memory");
        }
    }
    text + "} into file { path: out, format: json, existing: replace }\n"
}

#[test]
fn examples_are_true() {
    let examples = examples();
    let folder = support::fresh_folder("functions");
    let flow = folder.join("functions.flow");
    std::fs::write(&flow, pipeline(&examples)).expect("the folder is there");
    let binary = support::build(&flow, &folder);
    let out = folder.join("out");
    let output = std::process::Command::new(&binary).arg("--out").arg(&out).output().expect("the binary starts");
    support::assert_success(&output, "the pipeline of all examples");
    let text: String = support::compare::files(&out).iter().map(|file| support::compare::text(file)).collect();
    let row: Value = serde_json::from_str(&text).expect("one row");
    let wrong: Vec<String> = examples
        .iter()
        .enumerate()
        .filter_map(|(index, example)| {
            let value = |side: char| row.get(format!("{side}{index}")).cloned().unwrap_or(Value::Null);
            let (found, expected) = (value('x'), value('y'));
            (found != expected).then(|| {
                format!("{}: {} is {found}, not {expected} ({})", example.function, example.expression, example.expected)
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} examples:\n{}", wrong.len(), examples.len(), wrong.join("\n"));
}
