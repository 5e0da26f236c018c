//! From text to syntax tree. Never fails: what is broken is reported, what is good survives.

pub mod ast;
