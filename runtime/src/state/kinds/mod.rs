//! Kinds of state for the fields of a process's state, beside plain fields, `Option`, `Vec` and maps.
//!
//! Values, elements and entries may go by themselves at a time of the clock. Reading never gives what is over; its memory
//! is freed by a sweep that walks over the keys of a subtask little by little. The time is kept with the value, in
//! checkpoints too, so that a restart changes nothing, and a changed limit holds for what is written from then on.

mod aggregating;
mod expiring;
mod list;
mod map;
mod reducing;
mod value;

pub use aggregating::AggregatingState;
pub use expiring::Expiring;
pub use list::ListState;
pub use map::MapState;
pub use reducing::{Reduce, ReducingState};
pub use value::ValueState;

/// A kind is stored as what it holds.
macro_rules! stored_as {
    ([$($generics:tt)*] $ty:ty, $inner:ty) => {
        impl<$($generics)*> crate::state::State for $ty {
            const EXPIRES: bool = <$inner as crate::state::State>::EXPIRES;
            fn encode(&self, out: &mut Vec<u8>) {
                self.0.encode(out);
            }
            fn decode(input: &mut crate::state::StateReader<'_>) -> Result<Self, crate::state::StateError> {
                <$inner as crate::state::State>::decode(input).map(Self)
            }
            fn schema() -> String {
                <$inner as crate::state::State>::schema()
            }
            fn is_over(&self, now: i64) -> bool {
                crate::state::State::is_over(&self.0, now)
            }
            fn expire(&mut self, now: i64) {
                Self::drop_expired(self, now);
            }
        }
    };
}
use stored_as;

#[cfg(test)]
mod tests;
