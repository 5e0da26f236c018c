//! Tasks: one per subtask of a chain, each an asynchronous loop around synchronous steps.
//!
//! The loop is a mailbox: messages of the coordinator, the clock, input, one at a time. What a step puts out is sent on before
//! the next input is taken.

mod driver;
mod message;
mod status;
mod times;

pub(crate) use driver::{Task, TaskFailure};
pub(crate) use message::{Ack, Decline, TaskId, TaskMessage, TaskReport};
pub(crate) use status::{StatusSnapshot, TaskStatus};
pub(crate) use times::Spent;
