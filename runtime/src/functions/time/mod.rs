//! Functions of dates and times. All in UTC.

mod fields;
mod format_time;
mod parts;

use super::FunctionSpec;

#[cfg(feature = "engine")]
pub use self::{fields::*, format_time::format_time, parts::*};

pub(super) const SPECS: &[&FunctionSpec] = &[&parts::DATE, &fields::HOUR, &format_time::SPEC];
