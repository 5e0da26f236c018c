//! Code generation: from graphs to the files of a Rust crate.
//!
//! [`emit`] is pure. One template per role: `job` (main.rs), `types`, `params`, `functions`, `chain` with its stages,
//! and `expr` for everything that is computed. Names come from the text and are made safe in `names`; all text goes
//! through tokens and literals, so that no input can become code. What is printed compiles without warnings.

mod chain;
mod closure;
mod context;
mod doc;
mod embed;
mod emit;
mod expr;
mod functions;
mod job;
mod keys;
mod literal;
mod names;
mod options;
mod params;
mod rust;
mod stage;
mod tokens;
mod types;

pub use embed::{GeneratedModule, emit_module};
pub use emit::{EmitOptions, GeneratedCrate, emit};
pub use names::package as package_name;

#[cfg(test)]
mod tests;
