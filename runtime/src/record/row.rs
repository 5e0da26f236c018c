//! Rows with random access by column: what CSV lines, generators and other tabular sources give.
//!
//! A record asks for its leaf columns by slot number; [`Record::slots`](super::Record::slots) lists which column each slot
//! is, so that a source finds its columns once and not for every row.

use crate::value::{Str, Timestamp};

/// One leaf column of a record, or the place of a nested record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Names in the outside data, from the outermost record inwards.
    pub path: Vec<&'static str>,
    /// For a nested record: how many of the following slots are its own. 0 for a column.
    pub nested: usize,
    /// Whether null is allowed.
    pub optional: bool,
}

impl Slot {
    /// The path with dots: `bid.price`.
    pub fn name(&self) -> String {
        self.path.join(".")
    }
}

/// The value of one column of one row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Null, or no such column.
    Null,
    /// Nothing at all where nothing does not mean null: the empty text for strings, null for other types.
    Empty,
    /// A bool.
    Bool(bool),
    /// Any integer type.
    Int(i64),
    /// Any float type.
    Float(f64),
    /// A moment.
    Timestamp(Timestamp),
    /// A text, which also stands for a value of any other type in its text form.
    Text(&'a str),
    /// A text made for this row.
    Str(Str),
}

/// A row whose columns are found by slot number.
pub trait Row {
    /// The value in this slot.
    fn cell(&self, slot: usize) -> Cell<'_>;

    /// Whether the nested record in this slot is there; its own slots follow it.
    fn is_present(&self, slot: usize, nested: usize) -> bool {
        (slot + 1..=slot + nested).any(|slot| !matches!(self.cell(slot), Cell::Null | Cell::Empty))
    }
}

/// Takes the values of a row, slot by slot (nested records themselves left out).
pub trait CellWriter {
    /// Null.
    fn null(&mut self);
    /// A string: any text, the empty one included.
    fn string(&mut self, text: &str);
    /// A value of another type, in its text form.
    fn plain(&mut self, write: impl FnOnce(&mut Vec<u8>));
}
