//! Aggregates of the user's own, from Rust files: the accumulator with the types of the rows of a pipeline around it.

use std::marker::PhantomData;

use super::accumulator::{Accumulator, Retract};
use crate::state::{State, StateError, StateReader};
use crate::value::{Convert, EvalError};

/// The accumulator `A`, which is given values of type `I` and gives results of type `O`.
#[derive(Debug)]
pub struct OwnAggregate<A, I, O> {
    inner: A,
    types: PhantomData<fn(I) -> O>,
}

impl<A: Clone, I, O> Clone for OwnAggregate<A, I, O> {
    fn clone(&self) -> Self {
        OwnAggregate { inner: self.inner.clone(), types: PhantomData }
    }
}

impl<A: Default, I, O> Default for OwnAggregate<A, I, O> {
    fn default() -> Self {
        OwnAggregate { inner: A::default(), types: PhantomData }
    }
}

/// What is stored is the user's: the types of rows are no part of it.
impl<A: State, I, O> State for OwnAggregate<A, I, O> {
    #[inline]
    fn encode(&self, out: &mut Vec<u8>) {
        self.inner.encode(out);
    }

    #[inline]
    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        Ok(OwnAggregate { inner: A::decode(input)?, types: PhantomData })
    }

    fn schema() -> String {
        A::schema()
    }
}

impl<A: Accumulator, I: Convert<A::Input>, O> Accumulator for OwnAggregate<A, I, O>
where
    A::Output: Convert<O>,
{
    type Input = I;
    type Output = O;

    #[inline]
    fn add(&mut self, value: I) -> Result<(), EvalError> {
        self.inner.add(value.convert())
    }

    #[inline]
    fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
        self.inner.merge(&other.inner)
    }

    #[inline]
    fn finish(&self) -> Result<Option<O>, EvalError> {
        Ok(self.inner.finish()?.map(Convert::convert))
    }
}

impl<A: Retract, I: Convert<A::Input>, O> Retract for OwnAggregate<A, I, O>
where
    A::Output: Convert<O>,
{
    #[inline]
    fn retract(&mut self, value: I) -> Result<(), EvalError> {
        self.inner.retract(value.convert())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Str;

    #[derive(Clone, Default, crate::codegen::State)]
    struct Longest {
        text: String,
        times: i64,
    }

    impl Accumulator for Longest {
        type Input = (String, i64);
        type Output = String;

        fn add(&mut self, (text, times): (String, i64)) -> Result<(), EvalError> {
            if text.len() > self.text.len() {
                (self.text, self.times) = (text, times);
            }
            Ok(())
        }

        fn merge(&mut self, other: &Self) -> Result<(), EvalError> {
            self.add((other.text.clone(), other.times))
        }

        fn finish(&self) -> Result<Option<String>, EvalError> {
            Ok((self.times > 0).then(|| self.text.repeat(self.times as usize)))
        }
    }

    #[test]
    fn values_are_converted_on_their_way_in_and_out() {
        let mut own = OwnAggregate::<Longest, (Str, i64), Str>::default();
        assert_eq!(own.finish().unwrap(), None);
        own.add((Str::from("ab"), 2)).unwrap();
        let mut stored = Vec::new();
        own.encode(&mut stored);
        let mut other = OwnAggregate::<Longest, (Str, i64), Str>::decode(&mut StateReader::new(&stored)).unwrap();
        other.add((Str::from("abc"), 1)).unwrap();
        own.merge(&other).unwrap();
        assert_eq!(own.finish().unwrap(), Some(Str::from("abc")));
        assert_eq!(OwnAggregate::<Longest, (Str, i64), Str>::schema(), Longest::schema());
    }
}
