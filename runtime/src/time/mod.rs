//! Event time: watermarks and windows.

mod watermark;

pub use watermark::{Watermark, WatermarkTracker};
