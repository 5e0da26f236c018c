//! The rows of the sink's suite.

use millstream::{JobError, JobResult, Record};

#[derive(Clone, Debug, PartialEq, Record)]
pub struct Row {
    pub number: i64,
    pub text: millstream::value::Str,
}

impl Row {
    pub fn of(number: u64) -> Self {
        Row { number: i64::try_from(number).unwrap_or(i64::MAX), text: format!("row {number}, ü").into() }
    }

    /// The row of a line of JSON: its number says it all, and the rest is compared.
    pub fn parse(line: &str) -> JobResult<Self> {
        let bad = || JobError::new(format!("no row: {line}"));
        let rest = line.strip_prefix("{\"number\":").ok_or_else(bad)?;
        let number = rest.split(',').next().and_then(|digits| digits.parse().ok()).ok_or_else(bad)?;
        let row = Row::of(number);
        if line == format!("{{\"number\":{number},\"text\":\"{}\"}}", row.text) { Ok(row) } else { Err(bad()) }
    }
}
