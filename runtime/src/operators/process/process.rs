//! What users write, and what generated code adds to it.

use super::{Context, SharedContext};
use crate::operator::Failure;
use crate::record::Key;
use crate::state::{Shared, State};
use crate::value::{EvalError, Timestamp};

/// Rows that there are none of: a process without side output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSide {}

/// Rows that there are none of: a process without broadcast input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoBroadcast {}

/// An operator with state. Its fields are its options; they are the same in every subtask and no part of checkpoints.
///
/// Rows and timers of a key come one after the other. What a call emits goes on when it returns; of a call that fails with
/// [`Failure::Row`] nothing goes on, while changes of the state stay.
#[allow(unused_variables)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operator",
    label = "no operator",
    note = "write `#[operator] impl Process for ..` beside it"
)]
pub trait Process: Sized + Send + 'static {
    /// Rows that come in. With several inputs an enum of them.
    type Input;
    /// Rows that go out.
    type Output: Send;
    /// Rows of the side output; of several an enum that derives [`SideOutputs`](super::SideOutputs). None: [`NoSide`].
    type Side: Send;
    /// What is kept for each key, in checkpoints too.
    type State: State + Clone + Default + Send + Sync + 'static;
    /// Rows that come to every subtask. None: [`NoBroadcast`].
    type Broadcast;
    /// What is kept beside the keys. None: `()`.
    type Shared: Shared;

    /// Takes a row.
    fn process(&mut self, row: Self::Input, cx: &mut Context<'_, Self>) -> Result<(), Failure>;

    /// The watermark has passed a time that was asked for with [`Context::event_timer`].
    fn on_event_timer(&mut self, at: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }

    /// The clock has come to a time that was asked for with [`Context::clock_timer`].
    fn on_clock_timer(&mut self, at: Timestamp, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }

    /// Takes a row that comes to every subtask.
    fn on_broadcast(&mut self, row: Self::Broadcast, cx: &mut SharedContext<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }

    /// The input has ended, and all timers of event time have fired. Those of the clock never will.
    fn on_end(&mut self, cx: &mut SharedContext<'_, Self>) -> Result<(), Failure> {
        Ok(())
    }
}

/// An operator that keeps nothing: no state, no timers, nothing to do at the end. `#[operator]` says it of those that it sees to be so.
#[diagnostic::on_unimplemented(
    message = "`{Self}` keeps something from row to row, so its rows need a key",
    label = "has a state, timers, `on_end`, or rows that all subtasks get",
    note = "put `.key_by(|row| ..)` before it: rows of one key meet one state. `.key_by(|_| ())` takes all rows to one place"
)]
pub trait RowByRow {}

/// Where a process stands in a job: generated code fills this in.
#[allow(unused_variables)]
pub trait Processing: Send {
    /// What runs.
    type Process: Process;
    /// Rows as they come from the stage before.
    type In;
    /// Rows as the next stage takes them.
    type Out;
    /// What state belongs to.
    type Key: Key;

    /// The key of a row.
    fn key(&self, row: &Self::In) -> Result<Self::Key, EvalError>;

    /// The event time of a row, where there is one.
    fn time(&self, row: &Self::In) -> Result<Option<Timestamp>, EvalError> {
        Ok(None)
    }

    /// The row as the process takes it.
    fn input(&self, row: Self::In) -> Result<<Self::Process as Process>::Input, EvalError>;

    /// A row of the process as the next stage takes it.
    fn output(&self, row: <Self::Process as Process>::Output) -> Result<Self::Out, EvalError>;
}
