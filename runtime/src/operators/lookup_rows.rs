//! What a lookup join makes of a row and the rows that were found for it.

use super::Joining;
use crate::graph::JoinKind;
use crate::operator::{Collector, Failure};
use crate::time::WindowBounds;

/// Emits what a left row and those of the table with its key give. Rows of the table that do not match do not count.
pub(super) fn emit<J: Joining>(
    kind: JoinKind,
    joining: &J,
    left: &J::Left,
    found: &[J::Right],
    out: &mut impl Collector<J::Out>,
) -> Result<(), Failure> {
    let mut partner = false;
    for right in found {
        if !joining.matches(left, right)? {
            continue;
        }
        partner = true;
        match joining.both(left, right, WindowBounds::ALL) {
            Some(row) => out.emit(row)?,
            // Only whether there is one.
            None => break,
        }
    }
    if partner == (kind == JoinKind::Semi)
        && let Some(row) = joining.left_only(left, WindowBounds::ALL)
    {
        out.emit(row)?;
    }
    Ok(())
}
