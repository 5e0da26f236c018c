//! The operators, one file each.

mod aggregation;
mod assign_watermark;
mod count_window;
mod dedup_table;
mod explode;
mod filter;
mod final_rows;
mod keep_first;
mod keep_first_by_time;
mod project;
mod session_aggregate;
mod sessions;
mod table_aggregate;
mod window_aggregate;

pub use aggregation::Aggregation;
pub use assign_watermark::AssignWatermark;
pub use count_window::{CountWindow, SlidingCountWindow};
pub use dedup_table::{DedupFinal, DedupTable, by_arrival};
pub use explode::Explode;
pub use filter::Filter;
pub use final_rows::{Final, FinalBag};
pub use keep_first::KeepFirst;
pub use keep_first_by_time::KeepFirstByTime;
pub use project::Project;
pub use session_aggregate::SessionAggregate;
pub use table_aggregate::{FinalAggregate, OverChanges, OverRows, TableAggregate};
pub use window_aggregate::WindowAggregate;
