//! Sources and sinks: connectors, formats, and their options, checked against what they say of themselves.

mod formats;
mod hybrid;
mod options;
pub mod sink;
pub mod source;
mod timing;
