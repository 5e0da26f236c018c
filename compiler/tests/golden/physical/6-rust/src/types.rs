//! The rows of this job, one struct per set of columns.

use millstream::codegen::*;

/// Rows of `Line`, the columns in use: in.flow:9 @parallelism(1) source lines: Line from file { path: "lines.txt", format: text }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Line {
    pub line: Str,
}

/// Rows of `words: explode`: in.flow:15 explode regex_split(lower(line), r"[^a-z]+") as word
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Words {
    pub line: Str,
    pub word: Str,
}

/// Rows of `total: aggregate`: in.flow:18 aggregate { words: count() }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Total {
    pub words: i64,
}
