//! The connector `http`: rows to a web service, in batches, at least once; and rows looked up there, by key.
//!
//! A crate of its own, so that only pipelines that use it compile an HTTP client. Its descriptor is
//! [`millstream_runtime::connectors::http`].

// Derived code names the facade.
#[cfg(test)]
extern crate millstream_runtime as millstream;

mod address;
mod answer;
mod client;
mod list;
mod lookup;
#[cfg(test)]
mod lookup_tests;
mod sender;
mod sink;
#[cfg(test)]
mod tests;

pub use lookup::HttpLookup;
pub use sink::HttpSink;
