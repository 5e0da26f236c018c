//! Event time: watermarks, windows, timers.

#[cfg(feature = "zones")]
mod calendar;
mod domain;
mod due_queue;
mod progress;
mod watermark;
mod window;

#[cfg(feature = "zones")]
pub use calendar::Calendar;
pub use domain::TimeDomain;
pub use due_queue::DueQueue;
pub use progress::Progress;
pub use watermark::{Watermark, WatermarkTracker};
pub use window::{Cumulative, Global, Sliding, Tumbling, WindowAssigner, WindowBounds};
