//! The rows of several streams as those of one, and those of several tables.

use std::marker::PhantomData;
use std::panic::Location;

use super::link::{Head, Link};
use super::parts::{Draft, Producer};
use super::rows::{Row, origin, rows};
use super::stream::Stream;
use super::tables::{Table, table};
use crate::graph::{Hints, Operation, Origin, Port, StreamType};
use crate::record::Change;

/// What a stream can be united with: another one, or a tuple of up to six.
#[diagnostic::on_unimplemented(
    message = "these rows cannot be united with those of type `{T}`",
    note = "`union` takes a stream of rows of the same type, or a tuple of up to six such: make one type of several by `.map(..)`, an enum of \
            them mostly"
)]
pub trait Streams<T> {
    /// Ends their chains.
    #[doc(hidden)]
    fn producers(self, producers: &mut Vec<Inflow>);
}

/// Where rows of one of the streams come from.
#[doc(hidden)]
#[derive(Debug)]
pub struct Inflow(Producer);

impl<T: Row, L: Link<T>> Streams<T> for Stream<T, L> {
    fn producers(self, producers: &mut Vec<Inflow>) {
        producers.push(Inflow(self.forward()));
    }
}

macro_rules! tuples {
    ($(($($streams:ident $number:tt)*))*) => {$(
        impl<T, $($streams: Streams<T>),*> Streams<T> for ($($streams,)*) {
            fn producers(self, producers: &mut Vec<Inflow>) {
                $(self.$number.producers(producers);)*
            }
        }

        impl<T, $($streams: Tables<T>),*> Tables<T> for ($($streams,)*) {
            fn producers(self, producers: &mut Vec<Inflow>) {
                $(self.$number.producers(producers);)*
            }
        }
    )*};
}
tuples! {
    (A 0)
    (A 0 B 1)
    (A 0 B 1 C 2)
    (A 0 B 1 C 2 D 3)
    (A 0 B 1 C 2 D 3 E 4)
    (A 0 B 1 C 2 D 3 E 4 F 5)
}

/// What a table can be united with: another one, or a tuple of up to six.
#[diagnostic::on_unimplemented(
    message = "these rows cannot be united with those of a table of `{T}`",
    note = "`union` of a table takes a table of rows of the same type, or a tuple of up to six such"
)]
pub trait Tables<T> {
    /// Ends their chains.
    #[doc(hidden)]
    fn producers(self, producers: &mut Vec<Inflow>);
}

impl<T: Row, L: Link<Change<T>>> Tables<T> for Table<T, L> {
    fn producers(self, producers: &mut Vec<Inflow>) {
        producers.push(Inflow(self.changes.forward()));
    }
}

impl<T: Row, L: Link<Change<T>>> Table<T, L> {
    /// Its rows and those of other tables of the same type: a row that several have is there several times.
    #[track_caller]
    pub fn union<S: Tables<T>>(self, others: S) -> Table<T, impl Link<Change<T>>> {
        let at = origin(Location::caller(), "union");
        Table { changes: self.changes.united(|inflows| others.producers(inflows), table::<T>(), at) }
    }
}

impl<T: Row, L: Link<T>> Stream<T, L> {
    /// Its rows and those of others of the same type, in no order: `orders.union(returns)`, `orders.union((returns, corrections))`.
    #[track_caller]
    pub fn union<S: Streams<T>>(self, others: S) -> Stream<T, impl Link<T>> {
        self.united(|inflows| others.producers(inflows), rows::<T>(), origin(Location::caller(), "union"))
    }

    /// Its rows and others of the same type.
    fn united(self, others: impl FnOnce(&mut Vec<Inflow>), output: StreamType, at: Origin) -> Stream<T, Head> {
        let parts = self.parts.clone();
        let (name, id) = (self.name.clone(), self.id.clone());
        let mut inflows = vec![Inflow(self.forward())];
        others(&mut inflows);
        let placed = {
            let mut parts = parts.borrow_mut();
            let draft = Draft {
                stream: &name,
                id,
                kind: "union",
                operation: Operation::Union,
                output,
                hints: Hints::default(),
                origin: at,
            };
            let placed = parts.add(draft);
            for Inflow(producer) in &inflows {
                parts.connect(producer, placed.vertex, 0);
            }
            placed
        };
        let from = Producer::new(placed.vertex, Port::Main);
        Stream {
            parts,
            name,
            from,
            head: Some(placed.vertex),
            parallelism: None,
            id: None,
            ttl: None,
            link: Head,
            rows: PhantomData,
        }
    }
}
