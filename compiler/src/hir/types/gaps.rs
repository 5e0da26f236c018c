//! Which values the arms of a `match` take together, and which they leave.
//!
//! Values of a bool or an enum are counted one by one. Of other types in which everything has its place in an order, ranges may take
//! all, from the least to the greatest: `..10`, `10..`. Not of floats, for NaN is in no range.

use std::cmp::Ordering;

use millstream_runtime::graph::{Expr, ExprKind, Literal, Ty};

use super::casts::fits;
use super::matching::order;

/// What arms without a condition have taken so far.
pub(super) struct Covered {
    ty: Ty,
    null: bool,
    /// Of a bool or an enum: what is left.
    open: Option<Vec<Expr>>,
    /// Of other types: from, to, and whether the end counts itself.
    ranges: Vec<(Option<Expr>, Option<Expr>, bool)>,
}

impl Covered {
    /// Nothing, of a subject of this type.
    pub fn new(subject: &Ty) -> Covered {
        let ty = subject.required().clone();
        let all: Option<Vec<Literal>> = match &ty {
            Ty::Bool => Some(vec![Literal::Bool(true), Literal::Bool(false)]),
            Ty::Enum(of) => Some(of.values.iter().cloned().map(Literal::String).collect()),
            _ => None,
        };
        let open = all.map(|all| all.into_iter().map(|value| Expr::new(ExprKind::Literal(value), ty.clone())).collect());
        Covered { null: !subject.is_optional(), ty, open, ranges: Vec::new() }
    }

    pub fn take_value(&mut self, value: &Expr) {
        match (&value.kind, &mut self.open) {
            (ExprKind::Literal(Literal::Null), _) => self.null = true,
            (kind, Some(open)) => open.retain(|open| open.kind != *kind),
            (_, None) => self.ranges.push((Some(value.clone()), Some(value.clone()), true)),
        }
    }

    pub fn take_range(&mut self, from: Option<&Expr>, to: Option<&Expr>, inclusive: bool) {
        match &mut self.open {
            Some(open) => open.retain(|value| {
                let is_before = from.is_some_and(|from| order(value, from) == Some(Ordering::Less));
                let is_behind = to.is_some_and(|to| match order(value, to) {
                    Some(Ordering::Greater) => true,
                    Some(Ordering::Equal) => !inclusive,
                    _ => false,
                });
                is_before || is_behind
            }),
            None => self.ranges.push((from.cloned(), to.cloned(), inclusive)),
        }
    }

    /// Whether nothing is left.
    pub fn is_all(&self) -> bool {
        self.null && self.is_all_but_null()
    }

    /// What is left, as patterns, as far as that can be said.
    pub fn left(&self) -> Vec<String> {
        let mut left: Vec<String> = match &self.open {
            Some(open) => open.iter().map(ToString::to_string).collect(),
            // Beside single values nobody wants to hear of the gaps between them.
            None if !self.ranges.iter().any(|(from, to, _)| from.is_none() || from != to) => Vec::new(),
            None => self.gap().into_iter().filter(|gap| gap != "..").collect(),
        };
        if !self.null && (!left.is_empty() || self.is_all_but_null()) {
            left.push("null".to_owned());
        }
        left
    }

    fn is_all_but_null(&self) -> bool {
        self.open.as_ref().map_or_else(|| self.gap().is_none(), Vec::is_empty)
    }

    /// The first values that no range takes, as a range.
    fn gap(&self) -> Option<String> {
        if matches!(self.ty, Ty::Float32 | Ty::Float64) || !self.ty.is_ordered() {
            return Some("..".to_owned());
        }
        let mut ranges: Vec<_> = self.ranges.iter().collect();
        ranges.sort_by(|(a, ..), (b, ..)| match (a, b) {
            (Some(a), Some(b)) => order(a, b).unwrap_or(Ordering::Equal),
            (a, b) => a.is_some().cmp(&b.is_some()),
        });
        // What is taken so far: all up to here, which counts itself or not.
        let mut end: Option<(Expr, bool)> = None;
        for (from, to, inclusive) in ranges {
            match (from, &end) {
                (Some(from), None) if !self.is_least(from) => return Some(format!("..{from}")),
                (Some(from), Some((end, counts))) if order(from, end) == Some(Ordering::Greater) => {
                    let next = if *counts { next(end) } else { None };
                    if next.as_ref().is_none_or(|next| order(from, next) != Some(Ordering::Equal)) {
                        return Some(format!("{}..{from}", next.as_ref().unwrap_or(end)));
                    }
                }
                _ => {}
            }
            let Some(to) = to else { return None };
            if *inclusive && self.is_greatest(to) {
                return None;
            }
            let further = match end.as_ref().and_then(|(end, counts)| Some((order(to, end)?, counts))) {
                Some((Ordering::Less, _)) => false,
                Some((Ordering::Equal, counts)) => *inclusive && !counts,
                _ => true,
            };
            if further {
                end = Some((to.clone(), *inclusive));
            }
        }
        Some(end.map_or("..".to_owned(), |(end, counts)| match next(&end).filter(|_| counts) {
            Some(next) => format!("{next}.."),
            None => format!("{end}.."),
        }))
    }

    fn is_least(&self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Literal(Literal::Int(value)) => value.checked_sub(1).is_none_or(|before| !fits(before, &self.ty)),
            ExprKind::Literal(Literal::String(text)) => text.is_empty(),
            _ => false,
        }
    }

    fn is_greatest(&self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Literal(Literal::Int(value)) => value.checked_add(1).is_none_or(|next| !fits(next, &self.ty)),
            _ => false,
        }
    }
}

/// The value behind one, where there is none between them.
fn next(value: &Expr) -> Option<Expr> {
    let ExprKind::Literal(literal) = &value.kind else { return None };
    let next = match literal {
        Literal::Int(value) => Literal::Int(value.checked_add(1)?),
        Literal::Date(day) => Literal::Date(day.checked_add(1)?),
        Literal::Time(at) => Literal::Time(at.checked_add(1)?),
        Literal::Timestamp(at) => Literal::Timestamp(at.checked_add(1)?),
        Literal::Duration(time) => Literal::Duration(time.checked_add(1)?),
        _ => return None,
    };
    Some(Expr { kind: ExprKind::Literal(next), ..value.clone() })
}
