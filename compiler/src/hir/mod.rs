//! Name resolution and typing: from syntax trees to a typed [`Program`].
//!
//! [`lower`] never fails: mistakes are diagnostics, and what is wrong has the error type, with which everything goes
//! together, so that one mistake is reported once.

mod attributes;
mod collect;
mod connectors;
mod context;
mod definitions;
pub mod dump;
pub mod errors;
pub mod facts;
mod flow;
mod growth;
mod lookups;
mod lower;
pub mod program;
mod replay;
mod resolve;
mod rust;
mod settings;
mod stages;
mod travel;
mod types;
mod usage;
mod zones;

pub use dump::dump;
pub use facts::Facts;
pub use growth::ends;
pub use lower::{lower, lower_with_facts};
pub use program::{Node, NodeId, Program};
pub use settings::{CHECKPOINT_SETTINGS, SETTINGS};
pub use stages::WINDOWS;
pub use types::written::BUILT_IN as BUILT_IN_TYPES;
