//! The built-in connectors, held to the kit.

mod compacted_files;
mod docs;
mod file_sink;
mod file_source;
mod generator;
mod grown_files;
mod guide;
mod http;
mod hybrid;
mod socket;
mod watched_folder;
