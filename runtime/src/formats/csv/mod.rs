//! CSV: comma-separated values, as RFC 4180 and PostgreSQL's `COPY` have them.

#[cfg(feature = "engine")]
mod decoder;
#[cfg(feature = "engine")]
mod encoder;
#[cfg(feature = "engine")]
mod format;
#[cfg(feature = "engine")]
mod split;
#[cfg(all(test, feature = "engine"))]
mod tests;

use super::FormatSpec;
use crate::connectors::{OptionSpec, OptionTy};

#[cfg(feature = "engine")]
pub use decoder::CsvDecoder;
#[cfg(feature = "engine")]
pub use encoder::CsvEncoder;
#[cfg(feature = "engine")]
pub use format::CsvFormat;

/// What the compiler knows of it.
pub static SPEC: FormatSpec = FormatSpec {
    name: "csv",
    rust: "millstream::formats::CsvFormat",
    options: &[
        OptionSpec {
            name: "header",
            ty: OptionTy::Bool,
            required: false,
            default: "true",
            doc: "Whether the first line names the columns. Columns are found by name, in any order; others are passed over.",
        },
        OptionSpec {
            name: "columns",
            ty: OptionTy::Columns,
            required: false,
            default: "",
            doc: "The columns of the file, in order, where it has no header. Default: those of the record.",
        },
        OptionSpec {
            name: "delimiter",
            ty: OptionTy::String,
            required: false,
            default: "\",\"",
            doc: "What stands between fields: one ASCII character.",
        },
        OptionSpec {
            name: "quote",
            ty: OptionTy::String,
            required: false,
            default: "\"\\\"\"",
            doc: "What stands around fields that hold delimiters, quotes or line breaks; doubled inside of them.",
        },
        OptionSpec {
            name: "null",
            ty: OptionTy::String,
            required: false,
            default: "\"\"",
            doc: "The unquoted text that means null. In quotes it is data. Whatever it is, nothing at all is null for columns that are not strings.",
        },
    ],
    doc: "CSV: comma-separated values.\n\n\
        Reading: a field in quotes is data and never null, so `\"\"` is an empty string while nothing at all is null (or, with \
        another `null`, an empty string). White space belongs to the field. Quotes inside of an unquoted field are data. Rows \
        with more or fewer fields than the header, two columns of one name, and a header without a column that may not be null \
        are errors. A nested record's columns are called `bid.price`; lists, maps and json are JSON texts. Blank lines are passed \
        over, unless the file has a single column.\n\n\
        Writing: a header, then rows that read back as the same rows.",
};
