//! Regular expressions of this job, each compiled when it is first used.

use std::sync::LazyLock;
use millstream::codegen::*;

pub static PATTERN_1: LazyLock<Regex> = LazyLock::new(|| Regex::literal("[^a-z]+"));
