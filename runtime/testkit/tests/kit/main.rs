//! The built-in connectors, held to the kit.

mod file_sink;
mod file_source;
mod generator;
