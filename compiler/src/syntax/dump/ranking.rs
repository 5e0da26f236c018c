//! `top`, `sort`, `intersect`, `except` as text.

use super::{expr, name};
use crate::syntax::ast::{Combine, Name, OrderKey, Over, Top};

pub(super) fn top(top: &Top) -> String {
    let mut out = format!("| top {} by {}", expr(&top.count), order(&top.by));
    if !top.per.is_empty() {
        out.push_str(&format!(" per ({})", top.per.iter().map(expr).collect::<Vec<_>>().join(", ")));
    }
    if let Some(over) = &top.over {
        out.push_str(&self::over(over));
    }
    if top.ties.is_some() {
        out.push_str(" with ties");
    }
    if let Some(rank) = &top.rank {
        out.push_str(&format!(" with rank as {}", name(rank)));
    }
    out + &late(&top.late_into)
}

/// ` late into x`
pub(super) fn late(into: &Option<Name>) -> String {
    into.as_ref().map_or(String::new(), |into| format!(" late into {}", name(into)))
}

pub(super) fn over(over: &Over) -> String {
    let processing_time = if over.processing_time.is_some() { " processing_time" } else { "" };
    format!(" over {}{processing_time}", super::expr::call(&over.window))
}

pub(super) fn order(keys: &[OrderKey]) -> String {
    let key = |key: &OrderKey| format!("{}{}", expr(&key.value), if key.descending { " desc" } else { "" });
    keys.iter().map(key).collect::<Vec<_>>().join(", ")
}

pub(super) fn combine(how: Combine, all: bool, others: &[Name]) -> String {
    let word = match how {
        Combine::Intersect => "intersect",
        Combine::Except => "except",
    };
    let all = if all { " all" } else { "" };
    format!("| {word}{all} {}", others.iter().map(name).collect::<Vec<_>>().join(", "))
}
