//! The standard library of scalar functions.
//!
//! One file per function (small families share one): its [`FunctionSpec`] for the compiler and the manual, and beside
//! it, under the feature `engine`, the Rust function that jobs call as `millstream::functions::NAME`.

mod regex;
mod text;
mod time;

#[cfg(feature = "engine")]
pub use self::{regex::*, text::*, time::*};

/// What the compiler and the manual know of a function.
#[derive(Clone, Copy, Debug)]
pub struct FunctionSpec {
    pub name: &'static str,
    pub category: &'static str,
    /// In the language's own words: `split_index(text: string, separator: string, index: int64) -> string?`.
    ///
    /// Type variables: `T`, `U` any type; `N` any numeric type; `I` any integer; `O` any ordered type. `regex` is a pattern:
    /// a literal is checked and compiled at compile time. `T...` as the last parameter takes one or more arguments.
    /// A parameter without `?` given an optional value makes the call's result optional (null in, null out).
    pub signature: &'static str,
    /// The Rust function returns `Result<_, EvalError>`.
    pub fallible: bool,
    /// One sentence, then details: units, edge cases.
    pub doc: &'static str,
    /// (expression, its value as a Flow literal); each is a test and stands in the manual.
    pub examples: &'static [(&'static str, &'static str)],
}

/// The categories, in the manual's order.
const CATEGORIES: &[&[&FunctionSpec]] = &[text::SPECS, time::SPECS, regex::SPECS];

const COUNT: usize = {
    let mut count = 0;
    let mut category = 0;
    while category < CATEGORIES.len() {
        count += CATEGORIES[category].len();
        category += 1;
    }
    count
};

const ALL: [&FunctionSpec; COUNT] = {
    let mut all = [CATEGORIES[0][0]; COUNT];
    let (mut count, mut category) = (0, 0);
    while category < CATEGORIES.len() {
        let mut index = 0;
        while index < CATEGORIES[category].len() {
            all[count] = CATEGORIES[category][index];
            count += 1;
            index += 1;
        }
        category += 1;
    }
    all
};

/// All functions, category by category.
pub static FUNCTIONS: &[&FunctionSpec] = &ALL;

/// The function of this name.
pub fn find(name: &str) -> Option<&'static FunctionSpec> {
    FUNCTIONS.iter().copied().find(|function| function.name == name)
}
