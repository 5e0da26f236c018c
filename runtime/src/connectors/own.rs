//! Connectors of the user's own: a struct of options that is a [`Connector`], and what it makes of them.
//!
//! In comes what the text of a pipeline says (checked by the compiler against the same struct); out comes a [`Source`] or a
//! [`Sink`] over the rows of that pipeline. Nothing here is called per row.

use std::fmt;

use super::format_of;
use crate::error::{JobError, JobResult};
use crate::formats::Format;
use crate::options::{OptionValue, Options};
use crate::record::{Change, Record};
use crate::sink::{Inserts, Sink};
use crate::source::Source;
use crate::value::{Duration, Str, Timestamp};

/// A struct whose fields are the options of a connector: `#[derive(Connector)]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the options of a connector",
    label = "no options",
    note = "write `#[derive(Connector)]` above the struct"
)]
pub trait Connector: Sized {
    /// The name in the language: `poll`, as in `from poll { .. }`.
    const NAME: &'static str;

    /// Reads the options. Those that are not given have their defaults.
    fn from_options(options: &Options) -> JobResult<Self>;
}

/// A connector that can be read from: `source x: Row from poll { .. }`.
pub trait SourceConnector: Connector {
    /// Reads rows of type `T` in the format `F`.
    type Source<T: Record, F: Format>: Source<Row = T>;

    /// The source with these options. Called on the coordinator and on each task, so it connects to nothing yet.
    fn source<T: Record, F: Format>(self, format: F) -> JobResult<Self::Source<T, F>>;
}

/// A connector that can be written to: `sink x into batch { .. }`.
pub trait SinkConnector: Connector {
    /// Writes rows of type `T` in the format `F`.
    type Sink<T: Record, F: Format>: Sink<T>;

    /// The sink with these options. Called on the coordinator and on each task, so it connects to nothing yet.
    fn sink<T: Record, F: Format>(self, format: F) -> JobResult<Self::Sink<T, F>>;
}

/// A connector that tables can be written to: `sink totals into mirror { .. } key (customer)`.
///
/// Streams come to it as well, as rows that are only added, unless it is a [`SinkConnector`], too.
pub trait TableSinkConnector: Connector {
    /// Writes what happens to rows of type `T` in the format `F`.
    type Sink<T: Record, F: Format>: Sink<Change<T>>;

    /// The sink with these options. `key` says which columns tell rows apart. Called on the coordinator and on each task, so it connects
    /// to nothing yet.
    fn table_sink<T: Record, F: Format>(self, format: F, key: TableKey) -> JobResult<Self::Sink<T, F>>;
}

/// The columns that rows of a table are told apart by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableKey {
    columns: Vec<String>,
    positions: Vec<usize>,
    known: bool,
}

impl TableKey {
    /// The key of rows of type `T`, by the outside names of its columns. Without columns there is one row at most.
    ///
    /// # Errors
    ///
    /// A column that the rows do not have.
    pub fn new<T: Record>(columns: &[&str]) -> JobResult<Self> {
        let position = |name: &&str| {
            let found = T::COLUMNS.iter().position(|column| column.name == *name);
            found.ok_or_else(|| JobError::new(format!("`{}` has no column `{name}` for a key", T::NAME)))
        };
        let positions = columns.iter().map(position).collect::<JobResult<_>>()?;
        Ok(TableKey { columns: columns.iter().map(|&name| name.to_owned()).collect(), positions, known: true })
    }

    /// No key: rows are told apart by all of their columns, and equal ones may stand several times.
    pub fn unknown() -> Self {
        TableKey { columns: Vec::new(), positions: Vec::new(), known: false }
    }

    /// Whether there is one. With `#[flow(keyed)]` there always is.
    pub fn is_known(&self) -> bool {
        self.known
    }

    /// The outside names of its columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The values of the key in a row of the type that it was made for, as text; None: null.
    pub fn of<'a, T: Record>(&'a self, row: &'a T) -> impl Iterator<Item = Option<Str>> + 'a {
        self.positions.iter().map(|position| row.column_text(*position))
    }
}

/// The source of a pipeline: what generated code calls.
pub fn own_source<C: SourceConnector, T: Record, F: Format>(options: &Options) -> JobResult<C::Source<T, F>> {
    C::from_options(options)?.source(format_of(options)?)
}

/// The sink of a pipeline: what generated code calls.
pub fn own_sink<C: SinkConnector, T: Record, F: Format>(options: &Options) -> JobResult<C::Sink<T, F>> {
    C::from_options(options)?.sink(format_of(options)?)
}

/// The sink of a table: what generated code calls. `key`: None: the table has none.
pub fn own_table_sink<C: TableSinkConnector, T: Record, F: Format>(
    options: &Options,
    key: Option<&[&str]>,
) -> JobResult<C::Sink<T, F>> {
    let key = key.map_or_else(|| Ok(TableKey::unknown()), TableKey::new::<T>)?;
    C::from_options(options)?.table_sink(format_of(options)?, key)
}

/// The sink of a stream, for a connector that knows tables alone: what generated code calls.
pub fn own_stream_sink<C: TableSinkConnector, T: Record, F: Format>(
    options: &Options,
    key: Option<&[&str]>,
) -> JobResult<Inserts<C::Sink<T, F>>> {
    own_table_sink::<C, T, F>(options, key).map(Inserts)
}

/// A text that is shown to nobody: a password, a token. In the language it is a string.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A secret text.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// The text itself, for those who are to be given it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A type that an option of a [`Connector`] can have.
pub trait OptionType: Sized {
    /// The value of the option of this name.
    fn read(name: &str, value: &OptionValue) -> JobResult<Self>;
}

/// What derived code calls.
pub mod derived {
    use super::{JobError, JobResult, OptionType, Options};

    /// What the compiler takes care of itself.
    const BESIDE: [&str; 3] = ["format", "since", "until"];

    /// Whether all options that are given are those of the connector.
    pub fn check_names(connector: &str, options: &Options, known: &[&str]) -> JobResult<()> {
        match options.names().find(|name| !known.contains(name) && !BESIDE.contains(name)) {
            None => Ok(()),
            Some(name) => Err(JobError::new(format!("`{connector}` has no option `{name}`: it has {}", known.join(", ")))),
        }
    }

    /// An option that must be given.
    pub fn required<T: OptionType>(connector: &str, options: &Options, name: &str) -> JobResult<T> {
        optional(options, name)?.ok_or_else(|| JobError::new(format!("`{connector}` needs the option `{name}`")))
    }

    /// An option that may be left out.
    pub fn optional<T: OptionType>(options: &Options, name: &str) -> JobResult<Option<T>> {
        options.get(name).map(|value| T::read(name, value)).transpose()
    }
}

#[cold]
fn wrong(name: &str, expected: &str, found: &OptionValue) -> JobError {
    JobError::new(format!("the option `{name}` takes {expected}, not {found:?}"))
}

macro_rules! texts {
    ($($ty:ty: $make:expr),*) => {$(
        impl OptionType for $ty {
            fn read(name: &str, value: &OptionValue) -> JobResult<Self> {
                match value {
                    OptionValue::Text(text) => Ok($make(text.as_str())),
                    other => Err(wrong(name, "a text", other)),
                }
            }
        }
    )*};
}

texts!(String: str::to_owned, Str: Str::from, Secret: Secret::new);

macro_rules! whole_numbers {
    ($($ty:ty),*) => {$(
        impl OptionType for $ty {
            fn read(name: &str, value: &OptionValue) -> JobResult<Self> {
                let OptionValue::Int(number) = value else { return Err(wrong(name, "a whole number", value)) };
                Self::try_from(*number).map_err(|_| {
                    JobError::new(format!("the option `{name}` takes a number from {} to {}, not {number}", Self::MIN, Self::MAX))
                })
            }
        }
    )*};
}

whole_numbers!(i8, i16, i32, i64, u8, u16, u32, u64, usize);

impl OptionType for f64 {
    fn read(name: &str, value: &OptionValue) -> JobResult<Self> {
        match value {
            OptionValue::Float(number) => Ok(*number),
            #[allow(clippy::cast_precision_loss)]
            OptionValue::Int(number) => Ok(*number as f64),
            other => Err(wrong(name, "a number", other)),
        }
    }
}

impl OptionType for bool {
    fn read(name: &str, value: &OptionValue) -> JobResult<Self> {
        match value {
            OptionValue::Bool(value) => Ok(*value),
            other => Err(wrong(name, "`true` or `false`", other)),
        }
    }
}

impl OptionType for Duration {
    fn read(name: &str, value: &OptionValue) -> JobResult<Self> {
        i64::read(name, value).map(Duration)
    }
}

impl OptionType for Timestamp {
    fn read(name: &str, value: &OptionValue) -> JobResult<Self> {
        i64::read(name, value).map(Timestamp)
    }
}

/// Columns of the stream, by their outside names.
impl OptionType for Vec<String> {
    fn read(name: &str, value: &OptionValue) -> JobResult<Self> {
        match value {
            OptionValue::Columns(columns) => Ok(columns.clone()),
            other => Err(wrong(name, "a list of columns", other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_macros::Connector;

    /// Asks for rows.
    #[derive(Clone, Debug, Connector)]
    #[flow(name = "ask")]
    struct Ask {
        /// Where to ask.
        url: String,
        /// Who asks.
        token: Option<Secret>,
        /// How long an answer may take.
        #[flow(default = "1m30s")]
        wait: Duration,
        /// Rows at once.
        #[flow(default = 500)]
        rows: u32,
        /// Bytes at once.
        #[flow(size, default = "64KB")]
        bytes: u64,
        /// How to ask.
        #[flow(words = "get, post", default = "get")]
        method: String,
        /// Whether to go on.
        #[flow(default = true)]
        go_on: bool,
        /// Of the answers.
        #[flow(default = 0.5)]
        share: f64,
        /// What the rows are cut by.
        #[flow(rename = "by")]
        columns: Option<Vec<String>>,
    }

    #[test]
    fn options_that_are_not_given_have_their_defaults() {
        let ask = Ask::from_options(&Options::new().with("url", "http://x").with("token", "geheim")).unwrap();
        assert_eq!(Ask::NAME, "ask");
        assert_eq!((ask.url.as_str(), ask.token.as_ref().map(Secret::reveal)), ("http://x", Some("geheim")));
        assert_eq!((ask.wait, ask.rows, ask.bytes), (Duration(90_000_000), 500, 64 << 10));
        assert_eq!((ask.method.as_str(), ask.go_on, ask.share, &ask.columns), ("get", true, 0.5, &None));
        assert!(!format!("{ask:?}").contains("geheim"));
    }

    #[test]
    fn what_is_wrong_with_options_is_said() {
        let error = |options: Options| Ask::from_options(&options).unwrap_err().to_string();
        assert_eq!(error(Options::new()), "`ask` needs the option `url`");
        let url = || Options::new().with("url", "x");
        let unknown = error(url().with("urls", "x"));
        assert!(unknown.starts_with("`ask` has no option `urls`: it has url, token, wait"), "{unknown}");
        let rows = error(url().with("rows", -1));
        assert_eq!(rows, "the option `rows` takes a number from 0 to 4294967295, not -1");
        assert!(Ask::from_options(&url().with_columns("by", &["a"]).with_block("format", "json", Options::new())).is_ok());
    }
}
