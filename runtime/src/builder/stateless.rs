//! Operators of your own without a key: each row by itself, in the chain before it.

use std::marker::PhantomData;
use std::panic::Location;

use super::link::{Branch, Link};
use super::process::{NoTime, Spec, operation};
use super::rows::{Row, origin, rows};
use super::stream::Stream;
use crate::graph::{Operation, Origin, Port, ProcessOperation, SideOutput};
use crate::operators::{Process, RowByRow, StatelessProcess};

impl<T: Row, L: Link<T>> Stream<T, L> {
    /// An operator of your own that keeps nothing, where the rows are: as [`map`](Self::map), but with any number of rows, errors and side
    /// outputs. One with state, timers or `on_end` needs a key: `key_by` before it. `make` is called for each subtask.
    #[track_caller]
    pub fn process<P, M>(self, make: M) -> Stream<P::Output, impl Link<P::Output>>
    where
        P: RowByRow + Process<Input = T>,
        P::Output: Row,
        M: Fn() -> P + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "process");
        let operation = shown::<T, P>(Vec::new(), &at);
        self.then("process", operation, &at, move |_| Ok(StatelessProcess::new(make(), spec::<T, P>())))
    }

    /// The same, with the rows of its side output.
    #[track_caller]
    pub fn process_with_side<P, M>(self, make: M) -> (Stream<P::Output, impl Link<P::Output>>, Stream<P::Side>)
    where
        P: RowByRow + Process<Input = T>,
        P::Output: Row,
        P::Side: Row,
        M: Fn() -> P + Send + Sync + 'static,
    {
        let at = origin(Location::caller(), "process");
        let operation = shown::<T, P>(vec![SideOutput { variant: None, rows: rows::<P::Side>() }], &at);
        let side = Branch::new();
        let ways = side.clone();
        let main = self.then("process", operation, &at, move |cx| {
            Ok(StatelessProcess::new(make(), spec::<T, P>()).with_side(ways.stage(cx)?))
        });
        let side = main.beside(Port::Side(0), side);
        (main, side)
    }
}

/// The operation as the graph has it.
pub(super) fn shown<T: Row, P: Process>(sides: Vec<SideOutput>, at: &Origin) -> Operation
where
    P::Output: Row,
{
    let keyed = operation::<T, (), P>(false, None, sides, at);
    Operation::Process(ProcessOperation { keys: Vec::new(), stateless: true, ..keyed })
}

type Whole<T> = fn(T) -> T;

/// What the operator is told.
pub(super) fn spec<T: Row, P: Process<Input = T>>() -> Spec<T, (), P, fn(&T), NoTime<T>, Whole<T>> {
    Spec { key: |_| (), time: None, input: |row| row, types: PhantomData }
}
