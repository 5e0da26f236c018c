//! Rows of a table as they travel: what has been added, taken back or replaced.

use crate::state::{State, StateError, StateReader};

/// What happens to a row of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// A new row.
    Insert,
    /// The old row of an update: taken back.
    UpdateBefore,
    /// The new row of an update.
    UpdateAfter,
    /// A row is gone.
    Delete,
}

impl ChangeKind {
    /// Whether the row is added (rather than taken back).
    #[inline]
    pub fn adds(self) -> bool {
        matches!(self, ChangeKind::Insert | ChangeKind::UpdateAfter)
    }

    /// As `| changes` shows it.
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Insert => "insert",
            ChangeKind::UpdateBefore => "update_before",
            ChangeKind::UpdateAfter => "update_after",
            ChangeKind::Delete => "delete",
        }
    }
}

/// One change of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change<T> {
    /// What happens to the row.
    pub kind: ChangeKind,
    /// The row.
    pub row: T,
}

impl<T> Change<T> {
    /// A new row.
    #[inline]
    pub fn insert(row: T) -> Self {
        Change { kind: ChangeKind::Insert, row }
    }

    /// A row that is gone.
    #[inline]
    pub fn delete(row: T) -> Self {
        Change { kind: ChangeKind::Delete, row }
    }

    /// The same change of another row.
    #[inline]
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Change<U> {
        Change { kind: self.kind, row: change(self.row) }
    }
}

impl State for ChangeKind {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }
    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        Ok(match input.byte()? {
            0 => ChangeKind::Insert,
            1 => ChangeKind::UpdateBefore,
            2 => ChangeKind::UpdateAfter,
            3 => ChangeKind::Delete,
            other => return Err(StateError::new(format!("{other} is no kind of change"))),
        })
    }
    fn schema() -> String {
        "change_kind".into()
    }
}

impl<T: State> State for Change<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.kind.encode(out);
        self.row.encode(out);
    }
    fn decode(input: &mut StateReader<'_>) -> Result<Self, StateError> {
        Ok(Change { kind: State::decode(input)?, row: State::decode(input)? })
    }
    fn schema() -> String {
        format!("change{{kind:change_kind,row:{}}}", T::schema())
    }
}
