//! Aggregate functions: what they are called and typed, and (feature `engine`) their accumulators.
//!
//! One file per function or small family: its [`AggregateSpec`] and beside it the accumulator, which sees only values that
//! count (no nulls; `where` is the caller's). The accumulator's type parameters are the types of all arguments.

#[cfg(feature = "engine")]
mod accumulator;
mod analytic;
mod approx_count_distinct;
#[cfg(feature = "engine")]
mod arrivals;
mod avg;
mod by;
mod collect;
mod count;
#[cfg(feature = "engine")]
mod distinct;
mod extremes;
mod first_last;
#[cfg(feature = "engine")]
mod over_tables;
#[cfg(feature = "engine")]
mod own;
mod percentile;
mod sum;
mod variance;

#[cfg(feature = "engine")]
pub use self::{
    accumulator::{Accumulator, Retract},
    analytic::{Lag, Lead},
    approx_count_distinct::ApproxCountDistinct,
    avg::{Average, Avg},
    by::{MaxBy, MinBy},
    collect::{List, Set},
    count::Count,
    distinct::Distinct,
    extremes::{Max, Min},
    first_last::{First, Last},
    over_tables::{
        CountDistinctOverTable, FirstOverTable, LastOverTable, ListOverTable, MaxByOverTable, MaxOverTable, MinByOverTable,
        MinOverTable,
    },
    own::OwnAggregate,
    percentile::Percentile,
    sum::{Sum, Summable},
    variance::{StdDev, ToFloat, Variance},
};

/// What the compiler and the manual know of an aggregate function.
#[derive(Clone, Copy, Debug)]
pub struct AggregateSpec {
    /// As it is called.
    pub name: &'static str,
    /// As [`FunctionSpec::signature`](crate::functions::FunctionSpec): `max(value: O) -> O`. The result becomes optional where no row
    /// may have counted (a `where`, an optional argument, or no group key and no window), except for `never_null` functions.
    pub signature: &'static str,
    /// `count`-like: 0 rather than null where nothing counted.
    pub never_null: bool,
    /// The accumulator type in `millstream::aggregates`, generic over the types of its arguments where it has any: `Max`.
    pub accumulator: &'static str,
    /// The accumulator over tables, where rows can be taken back.
    pub over_table: &'static str,
    /// One sentence, then details.
    pub doc: &'static str,
}

/// All aggregate functions, by name.
pub static AGGREGATES: &[&AggregateSpec] = &[
    &approx_count_distinct::SPEC,
    &avg::SPEC,
    &count::SPEC,
    &first_last::FIRST,
    &first_last::LAST,
    &collect::LIST,
    &extremes::MAX,
    &by::MAX_BY,
    &extremes::MIN,
    &by::MIN_BY,
    &percentile::SPEC,
    &collect::SET,
    &variance::STDDEV,
    &sum::SPEC,
    &variance::VARIANCE,
];

/// Functions that only stand before `over (..)`, by name.
pub static ANALYTIC: &[&AggregateSpec] = &[&analytic::LAG, &analytic::LEAD, &analytic::ROW_NUMBER];

/// The function of this name that only stands before `over (..)`.
pub fn find_analytic(name: &str) -> Option<&'static AggregateSpec> {
    ANALYTIC.iter().copied().find(|function| function.name == name)
}

/// The aggregate function of this name.
pub fn find(name: &str) -> Option<&'static AggregateSpec> {
    AGGREGATES.iter().copied().find(|aggregate| aggregate.name == name)
}

/// The descriptor of an aggregate in a Rust file, kept for as long as the process runs; equal ones are one.
pub fn keep(name: &str, signature: &str, doc: &str) -> &'static AggregateSpec {
    use std::sync::{Mutex, PoisonError};
    static KNOWN: Mutex<Vec<&'static AggregateSpec>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = known.iter().find(|kept| (kept.name, kept.signature, kept.doc) == (name, signature, doc)) {
        return kept;
    }
    let text = |text: &str| -> &'static str { text.to_owned().leak() };
    let spec = AggregateSpec {
        name: text(name),
        signature: text(signature),
        never_null: false,
        accumulator: "OwnAggregate",
        over_table: "OwnAggregate",
        doc: text(doc),
    };
    let kept: &'static AggregateSpec = Box::leak(Box::new(spec));
    known.push(kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_sorted_and_well_formed() {
        assert!(AGGREGATES.is_sorted_by(|a, b| a.name < b.name));
        for spec in AGGREGATES.iter().chain(ANALYTIC) {
            let signature = crate::graph::signature::Signature::parse(spec.signature).unwrap();
            assert_eq!(signature.name, spec.name);
            assert!(!spec.doc.is_empty());
        }
    }
}
