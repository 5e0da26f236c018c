//! Which expressions can fail at run time.
//!
//! A pass may run an expression on other rows than before, or not at all, only if it cannot fail: errors are part of a
//! job's result.

use millstream_runtime::functions;
use millstream_runtime::graph::{BinaryOp, CastMode, Expr, ExprKind, Function, JobGraph, Literal, Operation, Ty, UnaryOp};

use super::exprs::for_each;

/// Answers for the expressions of one job; knows which of the user's functions can fail.
#[derive(Clone, Debug)]
pub struct Failure {
    fallible: std::collections::HashSet<String>,
}

impl Failure {
    /// Reads the bodies of the job's functions.
    pub fn new(graph: &JobGraph) -> Self {
        let mut failure = Failure { fallible: std::collections::HashSet::new() };
        // Functions may call functions: repeat until nothing is added.
        loop {
            let more: Vec<&Function> = graph
                .functions
                .iter()
                .filter(|function| !failure.fallible.contains(&function.name) && failure.can_fail(&function.body))
                .collect();
            if more.is_empty() {
                return failure;
            }
            failure.fallible.extend(more.into_iter().map(|function| function.name.clone()));
        }
    }

    /// Whether evaluating this can give an error. [`CastMode::NotNull`] counts as safe: it stands only behind the filter
    /// that makes it so, see [`is_guarded`].
    pub fn can_fail(&self, expr: &Expr) -> bool {
        let mut fails = false;
        expr.walk(&mut |node| fails = fails || self.node_can_fail(node));
        fails
    }

    /// Whether this operator can meet a row that it cannot compute.
    pub fn operation_can_fail(&self, operation: &Operation) -> bool {
        match operation {
            // Their own policy, or nothing to compute.
            Operation::Source(_) | Operation::Sink(_) | Operation::PartitionBy(_) => false,
            // Sums overflow.
            Operation::Aggregate(_) | Operation::Over(_) => true,
            // As its author says; answers may not come.
            Operation::Process(_) | Operation::CallAsync(_) => true,
            other => {
                let mut fails = false;
                for_each(other, &mut |_, expr| fails = fails || self.can_fail(expr));
                fails
            }
        }
    }

    fn node_can_fail(&self, node: &Expr) -> bool {
        match &node.kind {
            ExprKind::Unary(UnaryOp::Negate, operand) => !is_float(&operand.ty) && !operand.ty.required().is_decimal(),
            ExprKind::Binary(op, _, right) => match op {
                BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => {
                    !is_float(&node.ty) && *node.ty.required() != Ty::String
                }
                // The pattern is compiled at compile time if it is a literal.
                BinaryOp::Matches => !matches!(right.kind, ExprKind::Literal(Literal::String(_))),
                _ => false,
            },
            ExprKind::Cast(mode, _) => *mode == CastMode::Checked,
            ExprKind::Call { function, .. } => functions::find(function).is_none_or(|spec| spec.fallible),
            ExprKind::CallUser { function, .. } => self.fallible.contains(function),
            ExprKind::CallRust { function, .. } => function.fallible,
            ExprKind::Error => true,
            _ => false,
        }
    }
}

/// Whether this relies on a filter before it (`where x is not null`), and so must not run on rows which that one drops.
pub fn is_guarded(expr: &Expr) -> bool {
    let mut guarded = false;
    expr.walk(&mut |node| guarded = guarded || matches!(node.kind, ExprKind::Cast(CastMode::NotNull, _)));
    guarded
}

fn is_float(ty: &Ty) -> bool {
    ty.required().is_float()
}
