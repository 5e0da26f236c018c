//! Name resolution and typing: from syntax trees to a typed [`Program`].

pub mod program;

pub use program::{Node, NodeId, Program};
