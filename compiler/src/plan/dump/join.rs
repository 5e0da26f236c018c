//! A join as lines of text.

use millstream_runtime::graph::text::duration_text;
use millstream_runtime::graph::{JoinColumnOf, JoinHow, JoinOperation, Lookup, Side};

use super::operation::{emit, window};

/// `left join on id == right.order_id within -10m..10m`
pub fn head(join: &JoinOperation) -> String {
    let keys: Vec<String> = join.keys.iter().map(|key| format!("{} == right.{}", key.left, key.right)).collect();
    let mut out = format!("{} on {}", join.kind.words(), keys.join(" and "));
    match &join.how {
        JoinHow::Unbounded => {}
        JoinHow::Within { from, to, .. } => {
            let text = |micros: i64| match micros {
                micros if micros < 0 => format!("-{}", duration_text(micros.saturating_neg())),
                micros => duration_text(micros),
            };
            out.push_str(&format!(" within {}..{}", text(*from), text(*to)));
        }
        JoinHow::Over { window: over, allowed_lateness, .. } => {
            out.push_str(&format!(" over {}", window(over)));
            if *allowed_lateness != 0 {
                out.push_str(&format!(" allow {} late", duration_text(*allowed_lateness)));
            }
        }
        JoinHow::Lookup(lookup) => out.push_str(&looked_up(lookup)),
        JoinHow::AsOf { times } => out.push_str(&format!(" as of {}", times.left)),
    }
    if let Some(times) = join.times() {
        if !matches!(join.how, JoinHow::AsOf { .. } | JoinHow::Over { .. }) {
            out.push_str(&format!(" of {}", times.left));
        }
        out.push_str(&format!(" and right.{}", times.right));
        if times.late_output {
            out.push_str(", late rows to a stream of their own");
        }
    }
    if join.broadcast {
        out.push_str(", the right side to every task");
    }
    out.push_str(emit(join.emit));
    out
}

/// ` in lookup rates from http, answers kept 10m up to 100000, unordered`
fn looked_up(lookup: &Lookup) -> String {
    let mut out = format!(" in lookup {} from {}", lookup.name, lookup.connector);
    let by_key = !lookup.texts.is_empty();
    match lookup.cache.map(duration_text) {
        Some(time) if by_key => out.push_str(&format!(", answers kept {time} up to {}", lookup.cache_limit)),
        Some(time) => out.push_str(&format!(", loaded again after {time}")),
        None if by_key => {}
        None => out.push_str(", loaded once"),
    }
    if by_key && !lookup.ordered {
        out.push_str(", unordered");
    }
    out
}

/// The head, the rest of the condition, and where columns come from.
pub fn lines(join: &JoinOperation) -> Vec<String> {
    let mut out = vec![head(join)];
    if let Some(condition) = &join.condition {
        out.push(format!("  where {condition}"));
    }
    for column in &join.columns {
        match &column.of {
            JoinColumnOf::Side(Side::Left, own) if *own == column.name => out.push(format!("  {own}")),
            JoinColumnOf::Side(Side::Left, own) => out.push(format!("  {}: {own}", column.name)),
            JoinColumnOf::Side(Side::Right, own) if *own == column.name => out.push(format!("  right.{own}")),
            JoinColumnOf::Side(Side::Right, own) => out.push(format!("  {}: right.{own}", column.name)),
            JoinColumnOf::Window(_) => out.push(format!("  {}", column.name)),
        }
    }
    out
}
