//! The source and the sink of the guide `docs/connectors.md`.

mod in_rust;
pub mod journal;
pub mod ledger;
pub mod proof;
pub mod readings;
