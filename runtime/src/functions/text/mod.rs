//! Functions of text. Positions and lengths count characters (Unicode scalar values), from 0, unless a name says bytes.

mod case;
mod count_matches;
mod split;

use super::FunctionSpec;

#[cfg(feature = "engine")]
pub use self::{case::*, count_matches::*, split::*};

pub(super) const SPECS: &[&FunctionSpec] = &[&case::LOWER, &case::UPPER, &count_matches::SPEC, &split::INDEX];
