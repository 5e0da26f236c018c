//! Operators by precedence: from the flat list of operands and operators to a tree.
//!
//! Loosest first: `or` < `and` < `not` < comparisons < `??` < `+ -` < `* / %` < sign < `.field` and `[index]`.
//! Two stacks instead of recursion. Chains of `and` and of `or` become balanced trees, so that a generated list of
//! thousands of alternatives stays shallow; any other tree deeper than [`MAX_TREE`] is refused, so that every later walk
//! over an expression may recurse.

use millstream_grammar::{Pair, Rule};

use super::Builder;
use crate::source::Span;
use crate::syntax::ast::*;
use crate::syntax::errors;

/// Deepest tree of one expression.
pub(super) const MAX_TREE: usize = 256;

/// What waits for its right operand.
#[derive(Clone, Copy)]
enum Waiting {
    Sign(UnaryOp),
    Binary(BinaryOp),
    In {
        negated: bool,
    },
    /// Behind `between`, before its `and`.
    Low {
        negated: bool,
    },
    /// Behind the `and` of a `between`.
    High {
        negated: bool,
    },
}

impl Waiting {
    fn tightness(self) -> u8 {
        match self {
            Waiting::Binary(BinaryOp::Or) => 1,
            Waiting::Binary(BinaryOp::And) => 2,
            Waiting::Sign(UnaryOp::Not) => 3,
            Waiting::In { .. } | Waiting::Low { .. } | Waiting::High { .. } => COMPARISON,
            Waiting::Binary(op) => match op {
                BinaryOp::Coalesce => 5,
                BinaryOp::Add | BinaryOp::Subtract => 6,
                BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => 7,
                _ => COMPARISON,
            },
            Waiting::Sign(UnaryOp::Negate) => 8,
        }
    }
}

const COMPARISON: u8 = 4;

/// A finished operand; chains of `and` and `or` are kept flat until they end.
enum Node {
    One { expr: Expr, depth: usize },
    Chain { op: BinaryOp, parts: Vec<Expr>, ops: Vec<Span>, depth: usize },
}

impl Node {
    fn finish(self) -> (Expr, usize) {
        match self {
            Node::One { expr, depth } => (expr, depth),
            Node::Chain { op, parts, ops, depth } => {
                let depth = depth + parts.len().next_power_of_two().trailing_zeros() as usize;
                (balanced(op, parts, &ops), depth)
            }
        }
    }
}

/// A tree of logarithmic depth; the operands keep their order.
fn balanced(op: BinaryOp, mut parts: Vec<Expr>, ops: &[Span]) -> Expr {
    if parts.len() <= 1 {
        return parts.pop().unwrap_or(Expr { kind: ExprKind::Error, span: Span::default() });
    }
    // The left half is the larger one: a chain of two or three looks as if read from left to right.
    let middle = parts.len().div_ceil(2);
    let right = balanced(op, parts.split_off(middle), ops.get(middle..).unwrap_or(&[]));
    let left = balanced(op, parts, ops.get(..middle - 1).unwrap_or(&[]));
    let span = left.span.to(right.span);
    let op_span = ops.get(middle - 1).copied().unwrap_or(span);
    Expr { kind: ExprKind::Binary { op, op_span, left: Box::new(left), right: Box::new(right) }, span }
}

#[derive(Default)]
struct Climb {
    nodes: Vec<Node>,
    waiting: Vec<(Waiting, Span)>,
    /// A mistake was reported; the tree is worth nothing.
    broken: bool,
    too_deep: Option<Span>,
}

impl Builder<'_> {
    /// The tree of an `expr` pair; None: reported as wrong.
    pub(super) fn climb(&mut self, pair: Pair<'_, Rule>) -> Option<Expr> {
        let whole = self.span(&pair);
        let outer = std::mem::take(&mut self.depth);
        let mut climb = Climb::default();
        for inner in pair.into_inner() {
            let span = self.span(&inner);
            match inner.as_rule() {
                Rule::prefix => climb.waiting.push((Waiting::Sign(self.sign(inner, span)), span)),
                Rule::is_null => {
                    let negated = inner.into_inner().any(|part| part.as_rule() == Rule::negation);
                    climb.is_null(self, negated, span);
                }
                Rule::infix => {
                    if let Some(waiting) = self.infix(inner, span) {
                        climb.infix(self, waiting, span);
                    }
                }
                Rule::postfix => {
                    if let Some(Node::One { expr, depth }) = climb.nodes.pop() {
                        self.depth = 0;
                        let expr = self.postfix(expr, inner);
                        climb.push(expr, 1 + depth.max(self.depth));
                    }
                }
                _ => {
                    self.depth = 0;
                    let expr = self.primary(inner);
                    let depth = 1 + self.depth;
                    climb.push(expr, depth);
                }
            }
            if climb.too_deep.is_some() {
                break;
            }
        }
        if let Some(span) = climb.too_deep {
            self.depth = outer;
            self.report(errors::too_long(whole, span, MAX_TREE));
            return None;
        }
        climb.reduce(0);
        let (expr, depth) = climb.nodes.pop()?.finish();
        self.depth = outer.max(depth);
        let open = climb.waiting.iter().find(|(waiting, _)| matches!(waiting, Waiting::Low { .. }));
        if let Some((_, span)) = open {
            self.report(errors::between_without_and(*span));
            return None;
        }
        (!climb.broken && climb.nodes.is_empty()).then_some(expr)
    }

    fn sign(&mut self, pair: Pair<'_, Rule>, span: Span) -> UnaryOp {
        match pair.into_inner().next().map(|inner| inner.as_rule()) {
            Some(Rule::minus) => UnaryOp::Negate,
            Some(Rule::wrong_bang) => {
                self.report(errors::wrong_operator(span, "!", "not "));
                UnaryOp::Not
            }
            _ => UnaryOp::Not,
        }
    }

    fn infix(&mut self, pair: Pair<'_, Rule>, span: Span) -> Option<Waiting> {
        let mut negated = false;
        for inner in pair.into_inner() {
            let text = inner.as_str();
            match inner.as_rule() {
                Rule::negation => negated = true,
                Rule::kw_and => return Some(Waiting::Binary(BinaryOp::And)),
                Rule::kw_or => return Some(Waiting::Binary(BinaryOp::Or)),
                Rule::symbol => return symbol(text).map(Waiting::Binary),
                Rule::wrong_symbol => {
                    let (meant, op) = match text {
                        "&&" => ("and", BinaryOp::And),
                        "||" => ("or", BinaryOp::Or),
                        "<>" | "!==" => ("!=", BinaryOp::NotEqual),
                        _ => ("==", BinaryOp::Equal),
                    };
                    self.report(errors::wrong_operator(span, text, meant));
                    return Some(Waiting::Binary(op));
                }
                Rule::word_operator => {
                    return Some(match (text, negated) {
                        ("in", negated) => Waiting::In { negated },
                        ("between", negated) => Waiting::Low { negated },
                        ("like", false) => Waiting::Binary(BinaryOp::Like),
                        ("like", true) => Waiting::Binary(BinaryOp::NotLike),
                        (_, false) => Waiting::Binary(BinaryOp::Matches),
                        (_, true) => Waiting::Binary(BinaryOp::NotMatches),
                    });
                }
                _ => {}
            }
        }
        None
    }
}

fn symbol(text: &str) -> Option<BinaryOp> {
    Some(match text {
        "==" => BinaryOp::Equal,
        "!=" => BinaryOp::NotEqual,
        "<" => BinaryOp::Less,
        "<=" => BinaryOp::LessOrEqual,
        ">" => BinaryOp::Greater,
        ">=" => BinaryOp::GreaterOrEqual,
        "??" => BinaryOp::Coalesce,
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Subtract,
        "*" => BinaryOp::Multiply,
        "/" => BinaryOp::Divide,
        "%" => BinaryOp::Remainder,
        _ => return None,
    })
}

impl Climb {
    fn push(&mut self, expr: Expr, depth: usize) {
        if depth > MAX_TREE {
            self.too_deep = Some(expr.span);
        }
        self.nodes.push(Node::One { expr, depth });
    }

    /// An operator between two operands: what binds tighter before it is done.
    fn infix(&mut self, builder: &mut Builder<'_>, waiting: Waiting, span: Span) {
        if matches!(waiting, Waiting::Binary(BinaryOp::And)) {
            self.reduce(COMPARISON + 1);
            if let Some((open, _)) = self.waiting.last_mut()
                && let Waiting::Low { negated } = *open
            {
                *open = Waiting::High { negated };
                return;
            }
        }
        if waiting.tightness() == COMPARISON {
            self.reduce(COMPARISON + 1);
            self.refuse_chain(builder, span);
        }
        self.reduce(waiting.tightness());
        self.waiting.push((waiting, span));
    }

    fn is_null(&mut self, builder: &mut Builder<'_>, negated: bool, span: Span) {
        self.reduce(COMPARISON + 1);
        self.refuse_chain(builder, span);
        self.reduce(COMPARISON);
        if let Some(node) = self.nodes.pop() {
            let (operand, depth) = node.finish();
            let span = operand.span.to(span);
            self.push(Expr { kind: ExprKind::IsNull { operand: Box::new(operand), negated }, span }, depth + 1);
        }
    }

    /// `a < b < c` means nothing.
    fn refuse_chain(&mut self, builder: &mut Builder<'_>, span: Span) {
        if let Some((last, first)) = self.waiting.last()
            && last.tightness() == COMPARISON
            && !self.broken
        {
            builder.report(errors::comparison_chain(span, *first));
            self.broken = true;
        }
    }

    /// Builds everything that binds at least as tightly.
    fn reduce(&mut self, tightness: u8) {
        while let Some((waiting, span)) = self.waiting.pop() {
            if waiting.tightness() < tightness || (matches!(waiting, Waiting::Low { .. }) && !self.broken) {
                self.waiting.push((waiting, span));
                return;
            }
            let Some(right) = self.nodes.pop() else { return };
            match waiting {
                Waiting::Binary(op @ (BinaryOp::And | BinaryOp::Or)) => self.chain(op, span, right),
                _ => {
                    let (right, depth) = right.finish();
                    self.build(waiting, span, right, depth);
                }
            }
        }
    }

    /// Adds an operand to a chain of `and` or of `or`.
    fn chain(&mut self, op: BinaryOp, span: Span, right: Node) {
        let (right, right_depth) = right.finish();
        let (op, parts, ops, depth) = match self.nodes.pop() {
            Some(Node::Chain { op: before, mut parts, mut ops, depth }) if before == op => {
                parts.push(right);
                ops.push(span);
                (op, parts, ops, depth.max(right_depth))
            }
            Some(other) => {
                let (left, left_depth) = other.finish();
                (op, vec![left, right], vec![span], left_depth.max(right_depth))
            }
            None => return,
        };
        if depth + 20 > MAX_TREE {
            self.too_deep = Some(span);
        }
        self.nodes.push(Node::Chain { op, parts, ops, depth });
    }

    fn build(&mut self, waiting: Waiting, span: Span, right: Expr, depth: usize) {
        if let Waiting::Sign(op) = waiting {
            let span = span.to(right.span);
            return self.push(Expr { kind: ExprKind::Unary { op, operand: Box::new(right) }, span }, depth + 1);
        }
        let Some(left) = self.nodes.pop() else { return };
        let (left, left_depth) = left.finish();
        let mut depth = depth.max(left_depth);
        let mut whole = left.span.to(right.span);
        let kind = match waiting {
            Waiting::In { negated } => ExprKind::In { operand: Box::new(left), list: Box::new(right), negated },
            Waiting::Binary(op) => ExprKind::Binary { op, op_span: span, left: Box::new(left), right: Box::new(right) },
            Waiting::High { negated } => match self.nodes.pop() {
                Some(operand) => {
                    let (operand, operand_depth) = operand.finish();
                    depth = depth.max(operand_depth);
                    whole = operand.span.to(whole);
                    ExprKind::Between { operand: Box::new(operand), low: Box::new(left), high: Box::new(right), negated }
                }
                None => return,
            },
            Waiting::Low { .. } | Waiting::Sign(_) => ExprKind::Error,
        };
        self.push(Expr { kind, span: whole }, depth + 1);
    }
}
