//! Rows of operators with two inputs.
//!
//! An operator over two inputs is an operator over [`Either`]: the head of its chain wraps the rows of each input. All else
//! is as with one input: watermarks and barriers of both are combined before they reach it.

/// A row of the first or of the second input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Either<L, R> {
    /// Of the first: what stands before `join`.
    Left(L),
    /// Of the second: what is joined.
    Right(R),
}
