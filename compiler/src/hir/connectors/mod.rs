//! Sources and sinks: connectors, formats, and their options, checked against what they say of themselves.

pub mod formats;
mod hybrid;
pub mod options;
pub mod sink;
pub mod source;
mod timing;
