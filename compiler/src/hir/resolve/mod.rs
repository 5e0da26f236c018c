//! What names mean, and in which order things that name each other are looked at.

pub mod order;
pub mod same;
pub mod scope;
pub mod walk;
