//! The connector `http`: rows to a web service, in batches, at least once.
//!
//! A crate of its own, so that only pipelines that use it compile an HTTP client. Its descriptor is
//! [`millstream_runtime::connectors::http`].

mod answer;
mod sender;
mod sink;
#[cfg(test)]
mod tests;

pub use sink::HttpSink;
