//! Connectors: where rows come from and go to. Each describes itself here; its code is compiled with the feature `engine`.

pub mod blackhole;
pub mod channel;
pub mod described;
#[cfg(feature = "engine")]
pub mod emitter;
pub mod file;
pub mod generator;
pub mod http;
#[cfg(feature = "engine")]
pub mod own;
pub mod socket;
pub mod stdout;

/// What the compiler, the editor and the manual know of a connector.
#[derive(Clone, Copy, Debug)]
pub struct ConnectorSpec {
    /// `file`, as in `from file { .. }`.
    pub name: &'static str,
    pub doc: &'static str,
    /// The feature of the facade crate that its code needs: heavy connectors are crates of their own, which only pipelines
    /// that use them compile.
    pub feature: Option<&'static str>,
    pub source: Option<SourceSpec>,
    pub lookup: Option<LookupSpec>,
    pub sink: Option<SinkSpec>,
}

/// The source side of a connector.
#[derive(Clone, Copy, Debug)]
pub struct SourceSpec {
    /// The Rust type: `millstream::connectors::file::FileSource`. Generic over the row, and over the format where it takes one.
    pub rust: &'static str,
    pub options: &'static [OptionSpec],
    /// Format names it takes, the default first; empty: it has rows of its own and takes none.
    pub formats: &'static [&'static str],
    /// Whether it can be read again from a stored position.
    pub replayable: bool,
    /// Whether it ends by itself, by the names of the options that are given.
    pub bounded: fn(&[&str]) -> bool,
    /// The columns that it has, where they are fixed (the generator); None: the record's.
    pub columns: Option<fn(&[(&str, &str)]) -> Option<crate::graph::Schema>>,
}

/// The connector as an external table that is read by key.
#[derive(Clone, Copy, Debug)]
pub struct LookupSpec {
    /// Generic over the row, and over the format where it takes one. Implements `lookup::WholeTable`, or `lookup::KeyedTable`.
    pub rust: &'static str,
    pub options: &'static [OptionSpec],
    pub formats: &'static [&'static str],
    /// Whether it is asked key by key; else it is loaded as a whole.
    pub by_key: bool,
}

/// The sink side of a connector.
#[derive(Clone, Copy, Debug)]
pub struct SinkSpec {
    pub rust: &'static str,
    pub options: &'static [OptionSpec],
    pub formats: &'static [&'static str],
    /// Whether it takes tables (updates and deletes).
    pub accepts_tables: bool,
    /// Whether it finds rows by their key, so that there has to be one.
    pub needs_key: bool,
    /// Whether rows appear exactly once after failures.
    pub exactly_once: bool,
}

/// One option of a connector or of a format.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    pub name: &'static str,
    pub ty: OptionTy,
    pub required: bool,
    /// As the user would write it; empty: none.
    pub default: &'static str,
    pub doc: &'static str,
}

impl OptionSpec {
    /// An option that may be left out. `default`: as the user would write it; empty: none.
    pub const fn optional(name: &'static str, ty: OptionTy, default: &'static str, doc: &'static str) -> Self {
        OptionSpec { name, ty, required: false, default, doc }
    }

    /// An option that must be given.
    pub const fn required(name: &'static str, ty: OptionTy, doc: &'static str) -> Self {
        OptionSpec { name, ty, required: true, default: "", doc }
    }
}

/// Leaves out rows before a time. With [`UNTIL`] in an earlier stage of a hybrid source and the same time, every row is read once.
pub const SINCE: OptionSpec = OptionSpec::optional(
    "since",
    OptionTy::Timestamp,
    "",
    "Rows whose event time is earlier are left out, and those without one. Needs the source's `watermark`.",
);

/// Leaves out rows from a time on.
pub const UNTIL: OptionSpec = OptionSpec::optional(
    "until",
    OptionTy::Timestamp,
    "",
    "Rows whose event time is this or later are left out; those without one stay. Needs the source's `watermark`.",
);

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionTy {
    String,
    /// Where something is stored: a local path, or `s3://bucket/path`. Sources take several, with commas between.
    Place,
    /// A string that is shown to nobody, and should not stand in the text.
    Secret,
    Int,
    /// A whole number from 1 on, written as such.
    Count,
    Float,
    Bool,
    Duration,
    Timestamp,
    /// How often: `every 5s`.
    Every,
    /// Bytes: `64MB`.
    Size,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Columns of the stream: `[dt, hm]`.
    Columns,
}

/// All built-in connectors, by name.
pub static CONNECTORS: &[&ConnectorSpec] =
    &[&blackhole::SPEC, &channel::SPEC, &file::SPEC, &generator::SPEC, &http::SPEC, &socket::SPEC, &stdout::SPEC];

/// The connector of this name.
pub fn find(name: &str) -> Option<&'static ConnectorSpec> {
    CONNECTORS.iter().copied().find(|connector| connector.name == name)
}

/// The format that the options of a connector name, with its own options.
#[cfg(feature = "engine")]
pub fn format_of<F: crate::formats::Format>(options: &crate::options::Options) -> crate::error::JobResult<F> {
    let (_, own) = options.block("format")?.unwrap_or_default();
    F::from_options(&own)
}

#[cfg(test)]
mod tests {
    use super::CONNECTORS;

    #[test]
    fn every_option_of_a_sink_is_in_the_manual() {
        let manual = include_str!("../../../docs/sinks.md");
        for connector in CONNECTORS {
            let Some(sink) = &connector.sink else { continue };
            let title = format!("`{}`\n", connector.name);
            let section = manual.split("\n## ").find(|section| section.starts_with(&title)).unwrap_or_default();
            let rows = section.lines().filter(|line| line.starts_with("| `")).count();
            assert_eq!(rows, sink.options.len(), "{}: options in the manual and in the code", connector.name);
            for option in sink.options {
                let default = if option.default.is_empty() { String::new() } else { format!("`{}` ", option.default) };
                let line = format!("| `{}` | {default}|", option.name);
                assert!(section.contains(&line), "{}: no line `{line} ..`", connector.name);
            }
            assert!(manual.contains(&format!("| `{}` |", connector.name)), "{} is not listed", connector.name);
        }
    }
}
