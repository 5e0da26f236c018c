//! The command and what it builds, end to end. One program, so that tests run side by side: many wait for a build, a clock or a server.

mod commands;
mod control;
mod edit;
mod edits;
mod examples;
mod four_ends;
mod functions;
mod hybrid_kill;
mod kill;
mod lookups;
mod lsp;
mod nexmark;
mod readme;
mod rust;
mod rust_crates;
mod rust_failures;
mod rust_inputs;
mod rust_panics;
mod rust_tables;
mod sinks;
mod state;
mod state_evolution;
mod support;
mod tidy;
mod watch;
