//! A small interpreter of job graphs: single-threaded, lists of rows in, lists of rows out. Slow and obviously correct, it
//! says what a graph means, so that passes can be held to it.
//!
//! A row for which an expression fails is left out and counted, as under `on error skip`. Tables are modelled by the rows
//! that stand at the end; nothing is ever late.

// Each test that includes this uses a part of it.
#![allow(dead_code, unused_imports)]

pub mod build;
pub mod eval;
pub mod random;
pub mod run;
pub mod value;

pub use build::*;
pub use run::{Outcome, run};
pub use value::{Row, Value};
