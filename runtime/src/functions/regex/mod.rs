//! Functions of regular expressions. The syntax is that of Rust's `regex`: no look-around, no back references, and so no
//! pattern that takes forever.

mod extract;
mod split;

use super::FunctionSpec;

#[cfg(feature = "engine")]
pub use self::{extract::*, split::*};

pub(super) const SPECS: &[&FunctionSpec] = &[&extract::SPEC, &split::SPEC];
