//! `top`, `sort` and the like on one line.

use millstream_runtime::graph::{Combine, CombineOperation, SortKey, SortOperation, TopOperation};

use super::operation::{emit, list, window};

const LATE: &str = ", late rows to a stream of their own";

/// `top 10 by price desc per (auction), emits changes`
pub fn top(top: &TopOperation) -> String {
    let mut out = format!("top {} by {}", top.count, order(&top.order));
    if top.latest_first {
        out.push_str(" latest first");
    }
    if !top.keys.is_empty() {
        out.push_str(&format!(" per ({})", list(&top.keys)));
    }
    if let Some(over) = &top.window {
        out.push_str(&format!(" over {}", window(over)));
    }
    if top.ties {
        out.push_str(" with ties");
    }
    if let Some(rank) = &top.rank {
        out.push_str(&format!(" with rank as {rank}"));
    }
    if top.late_output {
        out.push_str(LATE);
    }
    out.push_str(emit(top.emit));
    out
}

/// `sort by placed_at, id desc`
pub fn sort(sort: &SortOperation) -> String {
    let late = if sort.late_output { LATE } else { "" };
    let by = match &sort.time {
        None => format!("sort at the end by {}", order(&sort.order)),
        Some(time) if sort.order.is_empty() => format!("sort by {time}"),
        Some(time) => format!("sort by {time}, {}", order(&sort.order)),
    };
    by + late
}

/// `except all`
pub fn combine(combine: &CombineOperation) -> String {
    let word = match combine.how {
        Combine::Distinct => "distinct",
        Combine::Intersect => "intersect",
        Combine::Except => "except",
    };
    format!("{word}{}", if combine.all { " all" } else { "" })
}

fn order(keys: &[SortKey]) -> String {
    let key = |key: &SortKey| format!("{}{}", key.value, if key.descending { " desc" } else { "" });
    if keys.is_empty() { "arrival".to_owned() } else { keys.iter().map(key).collect::<Vec<_>>().join(", ") }
}
