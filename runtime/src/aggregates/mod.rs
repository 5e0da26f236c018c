//! Aggregate functions: what they are called and typed, and (feature `engine`) their accumulators.

/// What the compiler and the manual know of an aggregate function.
#[derive(Clone, Copy, Debug)]
pub struct AggregateSpec {
    pub name: &'static str,
    /// As [`FunctionSpec::signature`](crate::functions::FunctionSpec): `max(value: O) -> O`. The result becomes optional where no row
    /// may have counted (a `where`, an optional argument, or no group key and no window), except for `never_null` functions.
    pub signature: &'static str,
    /// `count`-like: 0 rather than null where nothing counted.
    pub never_null: bool,
    /// The accumulator type in `millstream::aggregates`, generic over its argument's type where it has one: `Max`.
    pub accumulator: &'static str,
    /// Whether rows can be taken back (needed over tables).
    pub retractable: bool,
    pub doc: &'static str,
}

/// All aggregate functions, by name.
pub static AGGREGATES: &[&AggregateSpec] = &[];

/// The aggregate function of this name.
pub fn find(name: &str) -> Option<&'static AggregateSpec> {
    AGGREGATES.iter().copied().find(|aggregate| aggregate.name == name)
}
