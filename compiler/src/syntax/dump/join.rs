//! A join on one line.

use super::{expr, name};
use crate::syntax::ast::Join;

pub(super) fn join(join: &Join) -> String {
    let mut line = format!("| {} {}", join.kind.words(), name(&join.right));
    let mut add = |word: &str, text: String| line.push_str(&format!(" {word} {text}"));
    if let Some(alias) = &join.alias {
        add("as", name(alias));
    }
    if let Some(on) = &join.on {
        add("on", expr(on));
    }
    if let Some(within) = &join.within {
        let to = within.to.as_ref().map(|to| format!("..{}", expr(to))).unwrap_or_default();
        add("within", format!("{}{to}", expr(&within.from)));
    }
    if let Some(over) = &join.over {
        let processing_time = if over.processing_time.is_some() { " processing_time" } else { "" };
        add("over", format!("{}{processing_time}", super::expr::call(&over.window)));
    }
    if let Some(time) = &join.as_of {
        add("as of", expr(time));
    }
    if let Some(allow) = &join.allow_late {
        add("allow", format!("{} late", expr(allow)));
    }
    if let Some(late) = &join.late_into {
        add("late into", name(late));
    }
    if join.broadcast.is_some() {
        line.push_str(" broadcast");
    }
    line
}
