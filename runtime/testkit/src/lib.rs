//! The connector test kit: what every source and every sink has to prove.
//!
//! A connector's author writes a small context type, which knows how to open the external store, how to put rows into it or
//! read them back, and what the connector promises. [`source_suite!`] and [`sink_suite!`] expand it to named tests that run real
//! jobs: single and many splits, stops and resumes at other parallelisms, failures and kills in the middle, crashes at every step
//! of a commit. Cases that a connector cannot have follow from what its context claims, and [`table`] lists them with
//! the reason: nothing is skipped in silence.
//!
//! [`table_sink_suite!`] is the same for a sink of tables: rows come, change and go, and those that stand are compared.
//!
//! What comes out is compared as a multiset: an unexpected row always fails; a row that comes twice fails for exactly-once
//! and at-most-once; a row that is missing fails for exactly-once and at-least-once.

mod claims;
mod control;
mod faults;
pub mod files;
pub mod http;
mod job;
mod ledger;
mod multiset;
mod numbers;
pub mod sink;
pub mod source;
pub mod table;

pub use claims::{Boundedness, Delivery, SinkClaims, SourceClaims, Splits};
pub use sink::{SinkContext, TableSinkContext};
pub use source::SourceContext;
