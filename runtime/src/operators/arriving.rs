//! How rows travel: as they are, or wrapped in [`Change`]. Operators that take both are generic over it.

use crate::record::{Change, ChangeKind};

/// Rows of a stream: they are only added.
#[derive(Clone, Copy, Debug)]
pub struct OverRows;

/// Rows of a table: they are added and taken back.
#[derive(Clone, Copy, Debug)]
pub struct OverChanges;

/// What travels for a row `T`.
pub trait Carried: Send + 'static {
    /// Whether rows are never taken back.
    const APPEND: bool;
    /// The row as it travels.
    type Row<T>;

    /// Whether the row is added (rather than taken back), and the row itself.
    fn open<T>(row: Self::Row<T>) -> (bool, T);

    /// What happens to the row.
    fn kind<T>(row: &Self::Row<T>) -> ChangeKind;

    /// The row as it travels. Where rows are never taken back `kind` is an insert.
    fn wrap<T>(kind: ChangeKind, row: T) -> Self::Row<T>;
}

impl Carried for OverRows {
    const APPEND: bool = true;
    type Row<T> = T;

    #[inline]
    fn open<T>(row: T) -> (bool, T) {
        (true, row)
    }

    #[inline]
    fn kind<T>(_row: &T) -> ChangeKind {
        ChangeKind::Insert
    }

    #[inline]
    fn wrap<T>(_kind: ChangeKind, row: T) -> T {
        row
    }
}

impl Carried for OverChanges {
    const APPEND: bool = false;
    type Row<T> = Change<T>;

    #[inline]
    fn open<T>(change: Change<T>) -> (bool, T) {
        (change.kind.adds(), change.row)
    }

    #[inline]
    fn kind<T>(change: &Change<T>) -> ChangeKind {
        change.kind
    }

    #[inline]
    fn wrap<T>(kind: ChangeKind, row: T) -> Change<T> {
        Change { kind, row }
    }
}
