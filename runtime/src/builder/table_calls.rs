//! Aggregate functions over the rows of a table, which takes rows back.

use super::calls::{Call, CallIf, Calls};
use crate::aggregates::{
    Accumulator, First, FirstOverTable, Last, LastOverTable, List, ListOverTable, Max, MaxBy, MaxByOverTable, MaxOverTable, Min,
    MinBy, MinByOverTable, MinOverTable, Retract,
};
use crate::state::State;
use crate::value::compare::Compare;
use crate::value::{AsKey, EvalError};

/// An accumulator that can be one over a table: it takes rows back ([`Retract`]), or another one that does stands for it there.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot take back rows of a table",
    note = "write `impl Retract for` it; a table whose rows are changed for good is a stream: `.changes()`"
)]
pub trait OverTable: Accumulator {
    /// What is kept over a table.
    type Kept: Retract<Input = Self::Input, Output = Self::Output> + Send + Sync + 'static;
}

impl<A: Retract + Send + Sync + 'static> OverTable for A {
    type Kept = A;
}

macro_rules! remember_all {
    ($([$($bounds:tt)*] $of:ty => $kept:ty;)*) => {$(
        impl<$($bounds)*> OverTable for $of {
            type Kept = $kept;
        }
    )*};
}
remember_all! {
    [T: AsKey<Key: Send + Sync> + Compare + Clone + State + Send + Sync + 'static] Min<T> => MinOverTable<T>;
    [T: AsKey<Key: Send + Sync> + Compare + Clone + State + Send + Sync + 'static] Max<T> => MaxOverTable<T>;
    [T: Clone + State + Send + Sync + 'static] First<T> => FirstOverTable<T>;
    [T: Clone + State + Send + Sync + 'static] Last<T> => LastOverTable<T>;
    [T: Clone + State + Send + Sync + 'static] List<T> => ListOverTable<T>;
    [T: Clone + State + Send + Sync + 'static, K: AsKey<Key: Send + Sync> + Compare + Clone + State + Send + Sync + 'static]
        MinBy<T, K> => MinByOverTable<T, K>;
    [T: Clone + State + Send + Sync + 'static, K: AsKey<Key: Send + Sync> + Compare + Clone + State + Send + Sync + 'static]
        MaxBy<T, K> => MaxByOverTable<T, K>;
}

/// What an aggregate computes of the rows of a table: the same calls as over streams ([`Calls`]), where they can take rows back.
#[diagnostic::on_unimplemented(
    message = "this computes nothing of a table of rows of type `{T}`",
    note = "it takes `count()`, `sum(|row| ..)` and the like, `call::<Accumulator, _, _>(|row| ..)` of one that is `Retract`, or a tuple \
            of up to six of them"
)]
pub trait TableCalls<T>: Clone + Send + Sync + 'static {
    /// What is kept for each key.
    type Acc: Clone + Default + State + Send + Sync + 'static;
    /// The results.
    type Values;

    /// Counts a row, or takes it back.
    fn take(&self, acc: &mut Self::Acc, adds: bool, row: &T) -> Result<(), EvalError>;

    /// The results.
    fn values(&self, acc: &Self::Acc) -> Result<Self::Values, EvalError>;

    /// The functions, as the graph names them.
    fn names(&self, names: &mut Vec<String>);
}

impl<T, A, F> TableCalls<T> for Call<A, F>
where
    A: OverTable + Send + Sync + 'static,
    F: Fn(&T) -> A::Input + Clone + Send + Sync + 'static,
{
    type Acc = A::Kept;
    type Values = A::Output;

    #[inline]
    fn take(&self, acc: &mut A::Kept, adds: bool, row: &T) -> Result<(), EvalError> {
        let value = self.value(row);
        if adds { acc.add(value) } else { acc.retract(value) }
    }

    fn values(&self, acc: &A::Kept) -> Result<A::Output, EvalError> {
        acc.finish()?
            .ok_or_else(|| EvalError::new("an aggregate of these rows has no value: take `call_if`, whose value is an `Option`"))
    }

    fn names(&self, names: &mut Vec<String>) {
        Calls::<T>::names(self, names);
    }
}

impl<T, A, F> TableCalls<T> for CallIf<A, F>
where
    A: OverTable + Send + Sync + 'static,
    F: Fn(&T) -> Option<A::Input> + Clone + Send + Sync + 'static,
{
    type Acc = A::Kept;
    type Values = Option<A::Output>;

    #[inline]
    fn take(&self, acc: &mut A::Kept, adds: bool, row: &T) -> Result<(), EvalError> {
        match self.value(row) {
            None => Ok(()),
            Some(value) if adds => acc.add(value),
            Some(value) => acc.retract(value),
        }
    }

    fn values(&self, acc: &A::Kept) -> Result<Option<A::Output>, EvalError> {
        acc.finish()
    }

    fn names(&self, names: &mut Vec<String>) {
        Calls::<T>::names(self, names);
    }
}

macro_rules! tuples {
    ($(($($call:ident $number:tt),*))*) => {$(
        impl<T, $($call: TableCalls<T>),*> TableCalls<T> for ($($call,)*) {
            type Acc = ($($call::Acc,)*);
            type Values = ($($call::Values,)*);

            #[inline]
            fn take(&self, acc: &mut Self::Acc, adds: bool, row: &T) -> Result<(), EvalError> {
                $(self.$number.take(&mut acc.$number, adds, row)?;)*
                Ok(())
            }

            fn values(&self, acc: &Self::Acc) -> Result<Self::Values, EvalError> {
                Ok(($(self.$number.values(&acc.$number)?,)*))
            }

            fn names(&self, names: &mut Vec<String>) {
                $(self.$number.names(names);)*
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
