//! `generator`: a source that makes rows up.

use super::{ConnectorSpec, OptionSpec, OptionTy, SourceSpec};

/// The connector.
pub static SPEC: ConnectorSpec = ConnectorSpec {
    name: "generator",
    doc: "Makes rows up: numbers in sequence, or the events of the Nexmark auction site. The same options give the same rows.",
    source: Some(SourceSpec {
        rust: "millstream::connectors::generator::GeneratorSource",
        options: &[
            OptionSpec::optional("kind", OptionTy::Word(&["sequence", "nexmark"]), "sequence", "What is made up."),
            OptionSpec::optional("rows", OptionTy::Int, "", "How many rows; without it they never end."),
            OptionSpec::optional(
                "rate",
                OptionTy::Int,
                "",
                "Rows per second, all subtasks together; without it as many as possible.",
            ),
            OptionSpec::optional("seed", OptionTy::Int, "0", "Another seed gives other rows."),
        ],
        formats: &[],
        replayable: true,
        columns: None,
    }),
    sink: None,
};
