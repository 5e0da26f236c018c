//! The operators, one file each.

mod aggregation;
mod explode;
mod filter;
mod project;

mod window_aggregate;

pub use aggregation::Aggregation;
pub use explode::Explode;
pub use filter::Filter;
pub use project::Project;

pub use window_aggregate::WindowAggregate;
