//! Options of connectors and formats, as generated code gives them and as `from_options` reads them.

use crate::error::{JobError, JobResult};

/// The options in one block: `{ path: "in.csv", format: csv { null: "NA" } }`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    entries: Vec<(String, OptionValue)>,
}

/// The value of an option, known when the job starts.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// Text, and bare words.
    Text(String),
    /// Integers; sizes in bytes; durations and timestamps in microseconds.
    Int(i64),
    /// Floats.
    Float(f64),
    /// `true`, `false`
    Bool(bool),
    /// `[dt, hm]`
    Columns(Vec<String>),
    /// `csv { null: "NA" }`
    Block(String, Options),
}

impl Options {
    /// No options.
    pub fn new() -> Self {
        Options::default()
    }

    /// Adds an option.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OptionValue>) -> Self {
        self.entries.push((name.to_owned(), value.into()));
        self
    }

    /// Adds an option, if there is a value.
    #[must_use]
    pub fn with_some(self, name: &str, value: Option<impl Into<OptionValue>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds a bare word.
    #[must_use]
    pub fn with_word(self, name: &str, word: &str) -> Self {
        self.with(name, word)
    }

    /// Adds a size in bytes.
    #[must_use]
    pub fn with_size(self, name: &str, bytes: u64) -> Self {
        self.with(name, i64::try_from(bytes).unwrap_or(i64::MAX))
    }

    /// Adds a list of columns.
    #[must_use]
    pub fn with_columns(mut self, name: &str, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        self.entries.push((name.to_owned(), OptionValue::Columns(columns)));
        self
    }

    /// Adds a word with options of its own.
    #[must_use]
    pub fn with_block(mut self, name: &str, word: &str, options: Options) -> Self {
        self.entries.push((name.to_owned(), OptionValue::Block(word.to_owned(), options)));
        self
    }

    /// The value of an option, where it is given.
    pub fn get(&self, name: &str) -> Option<&OptionValue> {
        self.entries.iter().rev().find(|(entry, _)| entry == name).map(|(_, value)| value)
    }

    /// The names that are given.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }

    /// A text or a word.
    pub fn text(&self, name: &str) -> JobResult<Option<&str>> {
        match self.get(name) {
            None => Ok(None),
            Some(OptionValue::Text(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(name, "a text", other)),
        }
    }

    /// A text that must be there.
    pub fn required_text(&self, name: &str) -> JobResult<&str> {
        self.text(name)?.ok_or_else(|| JobError::new(format!("the option `{name}` is missing")))
    }

    /// A whole number, a size in bytes, or a duration or timestamp in microseconds.
    pub fn int(&self, name: &str) -> JobResult<Option<i64>> {
        match self.get(name) {
            None => Ok(None),
            Some(OptionValue::Int(value)) => Ok(Some(*value)),
            Some(other) => Err(wrong(name, "a whole number", other)),
        }
    }

    /// A whole number that cannot be negative.
    pub fn unsigned(&self, name: &str) -> JobResult<Option<u64>> {
        self.int(name)?
            .map(|value| {
                u64::try_from(value).map_err(|_| JobError::new(format!("the option `{name}` cannot be negative: {value}")))
            })
            .transpose()
    }

    /// A duration that is longer than none.
    pub fn every(&self, name: &str) -> JobResult<Option<std::time::Duration>> {
        match self.unsigned(name)? {
            None => Ok(None),
            Some(0) => Err(JobError::new(format!("the option `{name}` takes a time longer than 0"))),
            Some(micros) => Ok(Some(std::time::Duration::from_micros(micros))),
        }
    }

    /// A number.
    pub fn float(&self, name: &str) -> JobResult<Option<f64>> {
        match self.get(name) {
            None => Ok(None),
            Some(OptionValue::Float(value)) => Ok(Some(*value)),
            #[allow(clippy::cast_precision_loss)]
            Some(OptionValue::Int(value)) => Ok(Some(*value as f64)),
            Some(other) => Err(wrong(name, "a number", other)),
        }
    }

    /// `true` or `false`.
    pub fn boolean(&self, name: &str) -> JobResult<Option<bool>> {
        match self.get(name) {
            None => Ok(None),
            Some(OptionValue::Bool(value)) => Ok(Some(*value)),
            Some(other) => Err(wrong(name, "`true` or `false`", other)),
        }
    }

    /// Columns.
    pub fn columns(&self, name: &str) -> JobResult<&[String]> {
        match self.get(name) {
            None => Ok(&[]),
            Some(OptionValue::Columns(columns)) => Ok(columns),
            Some(other) => Err(wrong(name, "a list of columns", other)),
        }
    }

    /// A word with options of its own; a bare word has none.
    pub fn block(&self, name: &str) -> JobResult<Option<(&str, Options)>> {
        match self.get(name) {
            None => Ok(None),
            Some(OptionValue::Text(word)) => Ok(Some((word, Options::new()))),
            Some(OptionValue::Block(word, options)) => Ok(Some((word, options.clone()))),
            Some(other) => Err(wrong(name, "a word, with options in braces or without", other)),
        }
    }

    /// One of these words; the first is the default.
    pub fn word<'a>(&'a self, name: &str, words: &[&'a str]) -> JobResult<&'a str> {
        let given = self.text(name)?.unwrap_or(words.first().copied().unwrap_or_default());
        words
            .iter()
            .find(|&&word| word == given)
            .copied()
            .ok_or_else(|| JobError::new(format!("the option `{name}` takes {}, not `{given}`", words.join(", "))))
    }
}

#[cold]
fn wrong(name: &str, expected: &str, found: &OptionValue) -> JobError {
    let found = match found {
        OptionValue::Text(text) => format!("the text `{text}`"),
        OptionValue::Int(value) => format!("the number {value}"),
        OptionValue::Float(value) => format!("the number {value}"),
        OptionValue::Bool(value) => format!("`{value}`"),
        OptionValue::Columns(_) => "a list".to_owned(),
        OptionValue::Block(word, _) => format!("`{word} {{ .. }}`"),
    };
    JobError::new(format!("the option `{name}` takes {expected}, not {found}"))
}

macro_rules! option_value_from {
    ($($from:ty => $variant:ident ($convert:expr)),* $(,)?) => {$(
        impl From<$from> for OptionValue {
            fn from(value: $from) -> Self {
                OptionValue::$variant($convert(value))
            }
        }
    )*};
}

option_value_from! {
    &str => Text(str::to_owned), String => Text(std::convert::identity), i64 => Int(std::convert::identity), i32 => Int(i64::from),
    u32 => Int(i64::from), f64 => Float(std::convert::identity), bool => Bool(std::convert::identity),
}

impl From<crate::value::Str> for OptionValue {
    fn from(value: crate::value::Str) -> Self {
        OptionValue::Text(value.into())
    }
}

impl From<crate::value::Duration> for OptionValue {
    fn from(value: crate::value::Duration) -> Self {
        OptionValue::Int(value.0)
    }
}

impl From<std::time::Duration> for OptionValue {
    fn from(value: std::time::Duration) -> Self {
        OptionValue::Int(i64::try_from(value.as_micros()).unwrap_or(i64::MAX))
    }
}

impl From<crate::value::Timestamp> for OptionValue {
    fn from(value: crate::value::Timestamp) -> Self {
        OptionValue::Int(value.0)
    }
}
