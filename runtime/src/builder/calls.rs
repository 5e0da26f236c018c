//! Aggregate functions over the rows of a window: which values of a row they take, and what comes of them.

use crate::aggregates::{self, Accumulator, Average, Summable};
use crate::state::State;
use crate::value::EvalError;
use crate::value::compare::Compare;

/// What a window computes of its rows: a [`Call`], or a tuple of up to six.
#[diagnostic::on_unimplemented(
    message = "this computes nothing of rows of type `{T}`",
    note = "it takes `count()`, `sum(|row| ..)` and the like, `call::<Accumulator, _, _>(|row| ..)`, or a tuple of up to six of them"
)]
pub trait Calls<T>: Clone + Send + Sync + 'static {
    /// What is kept for each key and window.
    type Acc: Clone + Default + State + Send + Sync + 'static;
    /// The results, for the closure that makes the row of a window.
    type Values;

    /// Counts a row.
    fn add(&self, acc: &mut Self::Acc, row: &T) -> Result<(), EvalError>;

    /// Adds the rows of another.
    fn merge(&self, acc: &mut Self::Acc, other: &Self::Acc) -> Result<(), EvalError>;

    /// The results.
    fn values(&self, acc: &Self::Acc) -> Result<Self::Values, EvalError>;

    /// The functions, as the graph names them.
    fn names(&self, names: &mut Vec<String>);

    /// How many rows back or ahead each of them looks, as the graph has it.
    #[doc(hidden)]
    fn distances(&self, distances: &mut Vec<u64>) {
        distances.push(0);
    }
}

/// One function over a value of each row: of the library (`sum(|order| order.amount)`), or an accumulator of your own
/// (`call::<MostFrequent, _, _>(|order| order.city.clone())`).
pub struct Call<A, F> {
    value: F,
    accumulator: std::marker::PhantomData<fn() -> A>,
}

impl<A, F> Call<A, F> {
    /// Of this row.
    #[inline]
    pub(super) fn value<T, V>(&self, row: &T) -> V
    where
        F: Fn(&T) -> V,
    {
        (self.value)(row)
    }
}

impl<A, F> CallIf<A, F> {
    /// Of this row, if it has one.
    #[inline]
    pub(super) fn value<T, V>(&self, row: &T) -> Option<V>
    where
        F: Fn(&T) -> Option<V>,
    {
        (self.value)(row)
    }
}

impl<A, F: Clone> Clone for Call<A, F> {
    fn clone(&self) -> Self {
        Call { value: self.value.clone(), accumulator: std::marker::PhantomData }
    }
}

/// The same over the rows that have a value; none where no row has.
pub struct CallIf<A, F> {
    value: F,
    accumulator: std::marker::PhantomData<fn() -> A>,
}

impl<A, F: Clone> Clone for CallIf<A, F> {
    fn clone(&self) -> Self {
        CallIf { value: self.value.clone(), accumulator: std::marker::PhantomData }
    }
}

/// The accumulator `A` over this value of each row.
pub fn call<A, T, F>(value: F) -> Call<A, F>
where
    A: Accumulator,
    F: Fn(&T) -> A::Input,
{
    Call { value, accumulator: std::marker::PhantomData }
}

/// The accumulator `A` over the rows that have this value. Its result is an `Option`.
pub fn call_if<A, T, F>(value: F) -> CallIf<A, F>
where
    A: Accumulator,
    F: Fn(&T) -> Option<A::Input>,
{
    CallIf { value, accumulator: std::marker::PhantomData }
}

/// How many rows there are.
pub fn count<T>() -> Call<aggregates::Count, impl Fn(&T) + Clone> {
    Call { value: |_: &T| (), accumulator: std::marker::PhantomData }
}

/// The sum.
pub fn sum<T, V: Summable, F: Fn(&T) -> V>(value: F) -> Call<aggregates::Sum<V>, F> {
    call(value)
}

/// The mean.
pub fn average<T, V: Average, F: Fn(&T) -> V>(value: F) -> Call<aggregates::Avg<V>, F> {
    call(value)
}

/// The least value.
pub fn min<T, V: Compare + Clone + State, F: Fn(&T) -> V>(value: F) -> Call<aggregates::Min<V>, F> {
    call(value)
}

/// The greatest value.
pub fn max<T, V: Compare + Clone + State, F: Fn(&T) -> V>(value: F) -> Call<aggregates::Max<V>, F> {
    call(value)
}

/// The value of the row that came first.
pub fn first<T, V: Clone + State, F: Fn(&T) -> V>(value: F) -> Call<aggregates::First<V>, F> {
    call(value)
}

/// The value of the row that came last.
pub fn last<T, V: Clone + State, F: Fn(&T) -> V>(value: F) -> Call<aggregates::Last<V>, F> {
    call(value)
}

/// `count` of `count{rows:int64}`.
fn name<A: State>() -> String {
    let schema = A::schema();
    schema.split(['{', '(', '<']).next().unwrap_or_default().to_owned()
}

impl<T, A, F> Calls<T> for Call<A, F>
where
    A: Accumulator + Send + Sync + 'static,
    F: Fn(&T) -> A::Input + Clone + Send + Sync + 'static,
{
    type Acc = A;
    type Values = A::Output;

    #[inline]
    fn add(&self, acc: &mut A, row: &T) -> Result<(), EvalError> {
        acc.add((self.value)(row))
    }

    fn merge(&self, acc: &mut A, other: &A) -> Result<(), EvalError> {
        acc.merge(other)
    }

    fn values(&self, acc: &A) -> Result<A::Output, EvalError> {
        acc.finish()?.ok_or_else(|| EvalError::new(format!("`{}` of these rows has no value", name::<A>())))
    }

    fn names(&self, names: &mut Vec<String>) {
        names.push(name::<A>());
    }
}

impl<T, A, F> Calls<T> for CallIf<A, F>
where
    A: Accumulator + Send + Sync + 'static,
    F: Fn(&T) -> Option<A::Input> + Clone + Send + Sync + 'static,
{
    type Acc = A;
    type Values = Option<A::Output>;

    #[inline]
    fn add(&self, acc: &mut A, row: &T) -> Result<(), EvalError> {
        (self.value)(row).map_or(Ok(()), |value| acc.add(value))
    }

    fn merge(&self, acc: &mut A, other: &A) -> Result<(), EvalError> {
        acc.merge(other)
    }

    fn values(&self, acc: &A) -> Result<Option<A::Output>, EvalError> {
        acc.finish()
    }

    fn names(&self, names: &mut Vec<String>) {
        names.push(name::<A>());
    }
}

macro_rules! tuples {
    ($(($($call:ident $number:tt),*))*) => {$(
        impl<T, $($call: Calls<T>),*> Calls<T> for ($($call,)*) {
            type Acc = ($($call::Acc,)*);
            type Values = ($($call::Values,)*);

            #[inline]
            fn add(&self, acc: &mut Self::Acc, row: &T) -> Result<(), EvalError> {
                $(self.$number.add(&mut acc.$number, row)?;)*
                Ok(())
            }

            fn merge(&self, acc: &mut Self::Acc, other: &Self::Acc) -> Result<(), EvalError> {
                $(self.$number.merge(&mut acc.$number, &other.$number)?;)*
                Ok(())
            }

            fn values(&self, acc: &Self::Acc) -> Result<Self::Values, EvalError> {
                Ok(($(self.$number.values(&acc.$number)?,)*))
            }

            fn names(&self, names: &mut Vec<String>) {
                $(self.$number.names(names);)*
            }

            fn distances(&self, distances: &mut Vec<u64>) {
                $(self.$number.distances(distances);)*
            }
        }
    )*};
}
tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
}
