//! `generator`: a source that makes rows up.

pub mod nexmark;
#[cfg(feature = "engine")]
mod sequence;
#[cfg(feature = "engine")]
mod source;
#[cfg(feature = "engine")]
mod split;

#[cfg(feature = "engine")]
pub use source::{GeneratorReader, GeneratorSource};
#[cfg(feature = "engine")]
pub use split::{NumberEnumerator, NumberSplit};

use super::{ConnectorSpec, OptionSpec, OptionTy, SourceSpec};

/// The connector.
pub static SPEC: ConnectorSpec = ConnectorSpec {
    name: "generator",
    doc: "Makes rows up: numbers in sequence, or the events of the Nexmark auction site. The same options give the same rows.",
    feature: None,
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
            super::SINCE,
            super::UNTIL,
            OptionSpec::optional("seed", OptionTy::Int, "0", "Another seed gives other rows."),
            OptionSpec::optional("start", OptionTy::Timestamp, "@2026-01-01", "Nexmark: the time of the first event."),
            OptionSpec::optional(
                "events_per_second",
                OptionTy::Int,
                "10000",
                "Nexmark: events in a second of event time. They come as fast as `rate` has it.",
            ),
        ],
        formats: &[],
        replayable: true,
        bounded: |options| options.contains(&"rows"),
        columns: Some(columns),
    }),
    lookup: None,
    sink: None,
};

/// What it makes has these columns; a sequence has whatever the record names.
fn columns(words: &[(&str, &str)]) -> Option<crate::graph::Schema> {
    words.contains(&("kind", "nexmark")).then(nexmark::schema)
}
