//! `checkpoint: every 10s to "dir" { timeout: 10m, pause: 5s, tolerate: 3, keep: 3 }`: how often, where to, and how.

use std::collections::HashMap;

use millstream_runtime::graph::{CheckpointMode, CheckpointSettings, Expr, ExprKind, Literal, Ty};

use super::{duration, number, word};
use crate::hir::connectors::options::known_place;
use crate::hir::context::Context;
use crate::hir::errors::{checkpoint as errors, names};
use crate::hir::resolve::scope::Scope;
use crate::hir::types::Typer;
use crate::source::Span;
use crate::syntax::ast::{self, ConnectorOption, OptionValue};

/// What may stand in the block, for suggestions.
pub const BLOCK: &[&str] = &["timeout", "pause", "concurrent", "tolerate", "keep", "mode", "unaligned"];

/// The value of `checkpoint`; None where the interval is no good, which is reported.
pub(super) fn lower<'a>(
    cx: &mut Context<'a>,
    every: &'a ast::Expr,
    to: Option<&'a ast::Expr>,
    options: &'a [ConnectorOption],
) -> Option<CheckpointSettings> {
    let interval = duration(cx, every, "the checkpoint interval");
    let directory = match to {
        Some(to) => {
            let folder = Typer::new(cx, Scope::Job).expect(to, &Ty::String, "the folder of checkpoints");
            known_place(cx, &folder, to.span);
            folder
        }
        None => Expr {
            kind: ExprKind::Literal(Literal::String("checkpoints".to_owned())),
            ty: Ty::String,
            origin: cx.origin(every.span),
        },
    };
    let mut settings = CheckpointSettings::new(interval.unwrap_or(1), directory);
    block(cx, options, &mut settings);
    match interval {
        Some(interval) if interval > 0 => Some(settings),
        Some(_) => {
            cx.report_value(names::bad_setting("checkpoint", every.span, "an interval of more than zero"));
            None
        }
        None => None,
    }
}

fn block<'a>(cx: &mut Context<'a>, options: &'a [ConnectorOption], settings: &mut CheckpointSettings) {
    let mut given: HashMap<&'a str, Span> = HashMap::new();
    for option in options {
        let (name, span) = (option.name.text.as_str(), option.name.span);
        if let Some(first) = given.insert(name, span) {
            cx.report(names::setting_twice(name, span, first));
        }
        if !BLOCK.contains(&name) {
            cx.report(errors::unknown(&option.name, BLOCK));
            continue;
        }
        if let Some((span, expected)) = entry(cx, name, &option.value, settings) {
            cx.report_value(names::bad_setting(name, span, expected));
        }
    }
    if let Some(&concurrent) = given.get("concurrent").filter(|_| settings.concurrent > 1) {
        if let Some(&pause) = given.get("pause").filter(|_| settings.pause > 0) {
            cx.report(errors::concurrent_with_pause(concurrent, pause));
        }
        if let Some(&unaligned) = given.get("unaligned").filter(|_| settings.unaligned.is_some()) {
            cx.report(errors::concurrent_unaligned(concurrent, unaligned));
        }
    }
    let Some(&unaligned) = given.get("unaligned") else { return };
    let Some(after) = settings.unaligned else { return };
    if settings.mode == CheckpointMode::AtLeastOnce {
        let mode = given.get("mode").copied().unwrap_or(unaligned);
        cx.report(errors::unaligned_at_least_once(unaligned, mode));
    } else if after >= settings.timeout {
        cx.report(errors::unaligned_too_late(unaligned, given.get("timeout").copied()));
    }
}

/// One entry; gives what is expected, and where, if its value is not that. A value that is no constant is reported where it is read.
fn entry<'a>(
    cx: &mut Context<'a>,
    name: &str,
    value: &'a OptionValue,
    settings: &mut CheckpointSettings,
) -> Option<(Span, &'static str)> {
    let expected = match name {
        "timeout" => "a duration of more than zero, such as `10m`",
        "pause" => "a duration of zero or more, such as `5s`",
        "concurrent" => "a number from 1 to 16",
        "tolerate" => "a number from 0 to 1000000",
        "keep" => "a number from 1 to 1000",
        "mode" => "`exactly_once` or `at_least_once`",
        _ => "`after 30s` or `always`",
    };
    let expr = match value {
        OptionValue::Expr(expr) => expr,
        OptionValue::After(expr) if name == "unaligned" => {
            let after = duration(cx, expr, "the time after which barriers overtake rows")?;
            settings.unaligned = Some(after.max(0));
            return (after < 0).then_some((expr.span, expected));
        }
        OptionValue::After(expr) | OptionValue::Every(expr) => return Some((expr.span, expected)),
        OptionValue::Block(name, _) => return Some((name.span, expected)),
        OptionValue::Error => return None,
    };
    let good = match name {
        "timeout" => {
            settings.timeout = duration(cx, expr, "the time-out of checkpoints")?;
            settings.timeout > 0
        }
        "pause" => {
            settings.pause = duration(cx, expr, "the pause between checkpoints")?;
            settings.pause >= 0
        }
        "concurrent" => {
            let count = number(cx, expr)?;
            settings.concurrent = u32::try_from(count).unwrap_or(1);
            (1..=16).contains(&count)
        }
        "tolerate" => {
            let count = number(cx, expr)?;
            settings.tolerate = u32::try_from(count).unwrap_or(0);
            (0..=1_000_000).contains(&count)
        }
        "keep" => {
            let count = number(cx, expr)?;
            settings.keep = u32::try_from(count).unwrap_or(1);
            (1..=1_000).contains(&count)
        }
        "mode" => match word(expr) {
            Some("exactly_once") => true,
            Some("at_least_once") => {
                settings.mode = CheckpointMode::AtLeastOnce;
                true
            }
            _ => false,
        },
        _ => {
            let always = word(expr) == Some("always");
            settings.unaligned = always.then_some(0);
            always
        }
    };
    (!good).then_some((expr.span, expected))
}
