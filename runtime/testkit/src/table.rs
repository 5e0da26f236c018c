//! The table of what was proven, for the documentation.

use std::fmt::Write as _;

use crate::sink::{SinkContext, impossible as impossible_sink};
use crate::source::{SourceContext, impossible as impossible_source};

/// What a connector proves, case by case.
#[derive(Clone, Debug)]
pub struct Column {
    name: &'static str,
    /// None: proven; or why there is no such case.
    cells: Vec<Option<&'static str>>,
}

type Cases = &'static [(&'static str, &'static str)];

#[doc(hidden)]
#[macro_export]
macro_rules! case_names {
    ($context:ty, $($case:ident $proves:literal,)*) => {
        &[$((stringify!($case), $proves)),*]
    };
}

const SOURCE: Cases = crate::source_cases!(case_names, ());
const SINK: Cases = crate::sink_cases!(case_names, ());

/// The column of a source.
pub fn source<C: SourceContext>() -> Column {
    Column { name: C::NAME, cells: SOURCE.iter().map(|(case, _)| impossible_source(case, &C::CLAIMS)).collect() }
}

/// The column of a sink.
pub fn sink<C: SinkContext>() -> Column {
    Column { name: C::NAME, cells: SINK.iter().map(|(case, _)| impossible_sink(case, &C::CLAIMS)).collect() }
}

/// The cases of sources, for these, as Markdown.
pub fn sources(columns: &[Column]) -> String {
    markdown(SOURCE, columns)
}

/// The cases of sinks, for these, as Markdown.
pub fn sinks(columns: &[Column]) -> String {
    markdown(SINK, columns)
}

fn markdown(cases: Cases, columns: &[Column]) -> String {
    let mut text = "| case | what it proves |".to_owned();
    let mut rule = "\n|---|---|".to_owned();
    let mut notes: Vec<&str> = Vec::new();
    for column in columns {
        let _ = write!(text, " {} |", column.name);
        rule.push_str(":-:|");
    }
    text.push_str(&rule);
    for (index, (case, proves)) in cases.iter().enumerate() {
        let _ = write!(text, "\n| `{case}` | {proves} |");
        for column in columns {
            match column.cells[index] {
                None => text.push_str(" ✓ |"),
                Some(reason) => {
                    let note = notes.iter().position(|&known| known == reason).unwrap_or_else(|| {
                        notes.push(reason);
                        notes.len() - 1
                    });
                    let _ = write!(text, " ({}) |", note + 1);
                }
            }
        }
    }
    text.push('\n');
    for (index, note) in notes.iter().enumerate() {
        let _ = write!(text, "\n({}) {note}.", index + 1);
    }
    text
}
