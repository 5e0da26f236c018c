//! The traits of accumulators.

use crate::state::State;
use crate::value::EvalError;

/// Takes values one by one and has a result at any time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no aggregate",
    label = "no aggregate",
    note = "write `#[aggregate] impl Accumulator for ..` beside it"
)]
pub trait Accumulator: Clone + Default + State {
    /// A value; with several arguments a tuple of them.
    type Input;
    /// The result.
    type Output;

    /// Takes a value. An error leaves everything as it was.
    fn add(&mut self, value: Self::Input) -> Result<(), EvalError>;

    /// Takes the values of another accumulator, which come behind its own.
    fn merge(&mut self, other: &Self) -> Result<(), EvalError>;

    /// The result; None where no value makes one.
    fn finish(&self) -> Result<Option<Self::Output>, EvalError>;
}

/// Accumulators that can give a value back: over tables.
pub trait Retract: Accumulator {
    /// Gives back a value that was added before.
    fn retract(&mut self, value: Self::Input) -> Result<(), EvalError>;
}

/// Implements [`State`] for an accumulator as that of its fields, under a name. `<T>` says what it takes: no part of the state.
macro_rules! accumulator_state {
    ([$($generics:tt)*] $ty:ty = $name:literal $(<$argument:ty>)?: $($field:ident),*) => {
        impl<$($generics)*> crate::state::State for $ty {
            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                $(self.$field.encode(out);)*
            }
            #[inline]
            #[allow(clippy::needless_update)] // only some accumulators have fields without data
            fn decode(input: &mut crate::state::StateReader<'_>) -> Result<Self, crate::state::StateError> {
                Ok(Self { $($field: crate::state::State::decode(input)?,)* ..Self::default() })
            }
            fn schema() -> String {
                let fields: Vec<String> =
                    vec![$(String::from(concat!(stringify!($field), ":")) + &crate::state::schema_of(|this: &Self| &this.$field)),*];
                String::from($name) + "{" + &fields.join(",") + "}"
            }
        }
    };
}
pub(super) use accumulator_state;
