//! What a name in an expression can mean, by the place where the expression stands.

use millstream_runtime::graph::{AggregateCall, Expr, Ty};

use super::same::same;
use crate::hir::flow::Flow;
use crate::syntax::ast;

/// The names that an expression sees.
pub enum Scope<'s, 'a> {
    /// None: sizes of windows and the like.
    Constant(&'static str),
    /// Params and environment variables: options, the folder of checkpoints.
    Job,
    /// A row's columns, and params.
    Row(&'s Flow),
    /// The parameters of a `fn`.
    Function(&'s [(String, Ty)]),
    /// Group keys, aggregates, the window's bounds, and params.
    Output(&'s mut Output<'a>),
}

/// The block of an aggregate, as it is lowered.
pub struct Output<'a> {
    pub input: Flow,
    pub keys: Vec<GroupKey<'a>>,
    /// Each aggregate call once, with how it was written.
    pub calls: Vec<(&'a ast::Expr, AggregateCall)>,
    /// None: there is no window with bounds, for the reason given.
    pub bounds: Result<(), &'static str>,
    /// Whether a group has at least one row, so that aggregates of required values are required.
    pub never_empty: bool,
}

/// One entry of `by`.
pub struct GroupKey<'a> {
    /// None: an expression that can only be repeated.
    pub name: Option<String>,
    pub written: &'a ast::Expr,
    pub value: Expr,
}

impl Output<'_> {
    /// The group key that is written like this, or has this name.
    pub fn key(&self, expr: &ast::Expr) -> Option<usize> {
        if let ast::ExprKind::Name(name) = &expr.kind
            && let Some(index) = self.keys.iter().position(|key| key.name.as_deref() == Some(name))
        {
            return Some(index);
        }
        use ast::ExprKind::*;
        let literal = matches!(
            expr.kind,
            Null | Bool(_) | Int(_) | Float(_) | Decimal { .. } | String(_) | Duration(_) | Timestamp(_) | Date(_) | Size(_)
        );
        if literal {
            return None;
        }
        self.keys.iter().position(|key| same(key.written, expr))
    }
}
