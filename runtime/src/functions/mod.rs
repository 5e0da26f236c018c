//! The standard library of scalar functions.
//!
//! One file per small family: the [`FunctionSpec`]s for the compiler and the manual, and beside them, under the feature
//! `engine`, the Rust functions that jobs call as `millstream::functions::NAME`. Positions are counted from 0 everywhere.

mod bits;
mod characters;
mod choice;
mod date_parts;
mod epoch;
mod hash;
mod json;
mod json_path;
mod json_shape;
mod letter_case;
mod lists;
mod maps;
mod padding;
mod pattern;
mod powers;
mod regular;
mod rounding;
mod search;
mod substring;
mod time_text;
mod trim;
mod url;
mod zones;

#[cfg(feature = "engine")]
pub use self::{
    bits::*, characters::*, choice::*, date_parts::*, epoch::*, hash::*, json::*, json_shape::*, letter_case::*, lists::*,
    maps::*, padding::*, powers::*, regular::*, rounding::*, search::*, substring::*, time_text::*, trim::*, url::*,
};

#[cfg(feature = "zones")]
pub use self::zones::*;

/// What the compiler and the manual know of a function.
#[derive(Clone, Copy, Debug)]
pub struct FunctionSpec {
    /// As it is called.
    pub name: &'static str,
    /// The chapter of the manual.
    pub category: &'static str,
    /// In the language's own words: `split_index(text: string, separator: string, index: int64) -> string?`.
    ///
    /// Type variables: `T`, `U` any type; `N` any numeric type; `I` any integer; `O` any ordered type. `regex` is a pattern:
    /// a literal is checked and compiled at compile time. `T...` as the last parameter takes one or more arguments.
    /// `name?: type` may be left out: the Rust function takes an `Option`.
    /// A parameter without `?` given an optional value makes the call's result optional (null in, null out).
    pub signature: &'static str,
    /// The Rust function returns `Result<_, EvalError>`.
    pub fallible: bool,
    /// One sentence, then details: units, edge cases.
    pub doc: &'static str,
    /// (expression, its value as a Flow literal); each is a test and stands in the manual.
    pub examples: &'static [(&'static str, &'static str)],
    /// The feature of the crate `millstream` that has it; None: it is always there.
    pub feature: Option<&'static str>,
    /// The parameter whose literals are checked where they are written, and what is wrong with one.
    pub literal: Option<(&'static str, fn(&str) -> Result<(), String>)>,
}

impl FunctionSpec {
    /// A function that always has a value.
    const fn new(
        category: &'static str,
        signature: &'static str,
        doc: &'static str,
        examples: &'static [(&'static str, &'static str)],
    ) -> Self {
        FunctionSpec {
            name: name_of(signature),
            category,
            signature,
            fallible: false,
            doc,
            examples,
            feature: None,
            literal: None,
        }
    }

    /// A function that may have no value: its Rust function returns a `Result`.
    const fn fallible(self) -> Self {
        FunctionSpec { fallible: true, ..self }
    }

    /// A parameter whose literals are checked where they are written.
    const fn checked(self, parameter: &'static str, check: fn(&str) -> Result<(), String>) -> Self {
        FunctionSpec { literal: Some((parameter, check)), ..self }
    }

    /// A function that is compiled only into pipelines that call it.
    const fn behind(self, feature: &'static str) -> Self {
        FunctionSpec { feature: Some(feature), ..self }
    }
}

/// What stands before the parenthesis.
const fn name_of(signature: &'static str) -> &'static str {
    let mut end = 0;
    while end < signature.len() && signature.as_bytes()[end] != b'(' {
        end += 1;
    }
    signature.split_at(end).0
}

/// All families, in the manual's order.
const FAMILIES: &[&[FunctionSpec]] = &[
    letter_case::SPECS,
    trim::SPECS,
    padding::SPECS,
    search::SPECS,
    substring::SPECS,
    characters::SPECS,
    rounding::SPECS,
    powers::SPECS,
    bits::SPECS,
    date_parts::SPECS,
    epoch::SPECS,
    time_text::SPECS,
    zones::SPECS,
    regular::SPECS,
    json::SPECS,
    json_shape::SPECS,
    lists::SPECS,
    maps::SPECS,
    url::SPECS,
    hash::SPECS,
    choice::SPECS,
];

const COUNT: usize = {
    let (mut count, mut family) = (0, 0);
    while family < FAMILIES.len() {
        count += FAMILIES[family].len();
        family += 1;
    }
    count
};

static ALL: [&FunctionSpec; COUNT] = {
    let mut all = [&FAMILIES[0][0]; COUNT];
    let (mut at, mut family) = (0, 0);
    while family < FAMILIES.len() {
        let mut member = 0;
        while member < FAMILIES[family].len() {
            all[at] = &FAMILIES[family][member];
            at += 1;
            member += 1;
        }
        family += 1;
    }
    all
};

/// All functions, family by family.
pub static FUNCTIONS: &[&FunctionSpec] = &ALL;

/// The function of this name.
pub fn find(name: &str) -> Option<&'static FunctionSpec> {
    FUNCTIONS.iter().copied().find(|function| function.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_well_formed_and_names_unique() {
        let mut names: Vec<_> = FUNCTIONS.iter().map(|function| function.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        for function in FUNCTIONS {
            let signature = crate::graph::signature::Signature::parse(function.signature).unwrap();
            assert_eq!(signature.name, function.name);
            assert!(function.doc.ends_with('.') && !function.examples.is_empty(), "{}", function.name);
        }
    }
}
