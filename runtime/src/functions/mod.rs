//! The standard library of scalar functions.
//!
//! One file per function (small families share one): its [`FunctionSpec`] for the compiler and the manual, and beside
//! it, under the feature `engine`, the Rust function that jobs call as `millstream::functions::NAME`.

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

/// All functions, by name.
pub static FUNCTIONS: &[&FunctionSpec] = &[];

/// The function of this name.
pub fn find(name: &str) -> Option<&'static FunctionSpec> {
    FUNCTIONS.iter().copied().find(|function| function.name == name)
}
