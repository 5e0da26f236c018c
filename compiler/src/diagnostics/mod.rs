//! What the compiler has to say to its user: one type for every phase and for every way of showing it.
//!
//! Diagnostics are made by constructor functions beside the phase that finds them; each code has a page in `pages/` that
//! `millstream explain E0203` prints.
//!
//! [`render`] shows diagnostics as text in rustc's look, [`json`] as one JSON object a line, [`codes`] has the pages.

pub mod codes;
mod diagnostic;
pub mod json;
mod list;
mod nearest;
pub mod render;

pub use diagnostic::{Code, Diagnostic, Fix, Label, Severity};
pub use list::Diagnostics;
pub use nearest::did_you_mean;
