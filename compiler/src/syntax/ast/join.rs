//! Joins.

use millstream_runtime::graph::JoinKind;

use super::{Expr, Name, Over};
use crate::source::Span;

/// `left join payments as p on id == p.order_id within 10m`
#[derive(Clone, Debug, PartialEq)]
pub struct Join {
    pub kind: JoinKind,
    /// The stream or table that is joined.
    pub right: Name,
    pub alias: Option<Name>,
    pub on: Option<Expr>,
    /// `within 10m`, `within -5m..10m`
    pub within: Option<JoinWithin>,
    /// `over tumbling(1m)`
    pub over: Option<Over>,
    /// `as of placed_at`
    pub as_of: Option<Expr>,
    /// `allow 30s late`
    pub allow_late: Option<Expr>,
    /// `late into late_orders`
    pub late_into: Option<Name>,
    /// `broadcast`: every task gets all rows of the joined side.
    pub broadcast: Option<Span>,
}

/// How far the times of two rows may lie apart.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinWithin {
    /// Either way; with `to`, the least time from the left row to the right one.
    pub from: Expr,
    pub to: Option<Expr>,
    pub span: Span,
}
