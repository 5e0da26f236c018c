//! `process by key X`: an operator that users write in Rust, with state, timers, side outputs and a broadcast input.
//!
//! State: key → the state of the process, and its timers. All of a key is found with one look-up. Timers of event time fire
//! in their order when the watermark passes them, those of the clock when it has come to them; a time is kept once per key.

mod broadcast;
mod context;
mod converted;
mod of_key;
mod operator;
#[allow(clippy::module_inception)] // the trait that gives the module its name
mod process;
mod run;
mod side;
mod side_outputs;
mod stateless;
mod sweep;
mod timers;

pub use broadcast::WithBroadcast;
pub use context::{Context, SharedContext};
pub use converted::Converted;
pub use operator::KeyedProcess;
pub use process::{NoBroadcast, NoSide, Process, Processing, RowByRow};
pub use side_outputs::{SideOutputs, SideStages};
pub use stateless::StatelessProcess;

#[cfg(test)]
mod tests;
