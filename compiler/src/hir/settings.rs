//! `job name { .. }`: settings of the whole job.

mod checkpoint;
mod restart;
mod state;

use std::collections::HashMap;

use millstream_runtime::graph::{ErrorPolicy, JobSettings, Literal, Ty};

use super::attributes;
use super::context::Context;
use super::errors::names;
use super::resolve::scope::Scope;
use super::types::Typer;
use crate::source::Span;
use crate::syntax::ast::{self, Setting, SettingValue};

/// Names of the settings, for suggestions.
pub const SETTINGS: &[&str] =
    &["parallelism", "max_parallelism", "checkpoint", "buffer_timeout", "restart", "on error", "state", "ttl"];

pub use checkpoint::BLOCK as CHECKPOINT_SETTINGS;

/// Reads the `job` item; defaults where there is none.
pub fn lower(cx: &mut Context<'_>) -> JobSettings {
    let mut settings = JobSettings::new(default_name(cx));
    let Some(entry) = &cx.items.job else { return settings };
    let (item, job) = (entry.item, entry.node);
    if !job.name.text.is_empty() {
        settings.name = job.name.text.clone();
    }
    settings.doc = item.doc.clone();
    attributes::none(cx, &item.attributes, "a job");
    let mut first = HashMap::new();
    for setting in &job.settings {
        if let Some(span) = first.insert(setting.name.text.as_str(), setting.name.span) {
            cx.report(names::setting_twice(&setting.name.text, setting.name.span, span));
        }
        lower_setting(cx, setting, &mut settings);
    }
    if settings.parallelism > settings.max_parallelism
        && let Some(setting) = job.settings.iter().find(|setting| setting.name.text == "parallelism")
    {
        let expected = format!("at most {} (see `max_parallelism`)", settings.max_parallelism);
        cx.report_value(names::bad_setting("parallelism", setting.span, &expected));
    }
    settings
}

/// A value of a form that only another setting has.
fn misplaced(cx: &mut Context<'_>, setting: &Setting, at: Span, why: &str) {
    let name = setting.name.text.as_str();
    cx.report(match SETTINGS.contains(&name) {
        true => names::bad_setting(name, at, &format!("a plain value; {why}")),
        false => names::unknown_setting(&setting.name, SETTINGS),
    });
}

fn lower_setting<'a>(cx: &mut Context<'a>, setting: &'a Setting, settings: &mut JobSettings) {
    let expr = match &setting.value {
        SettingValue::Error => return,
        SettingValue::Checkpoint { every, to, options } if setting.name.text == "checkpoint" => {
            settings.checkpoint = checkpoint::lower(cx, every, to.as_ref(), options);
            return;
        }
        SettingValue::Into(_) if matches!(setting.name.text.as_str(), "on error" | "on_error") => {
            settings.on_error = ErrorPolicy::Into;
            return;
        }
        SettingValue::Block(name, options) if setting.name.text == "state" => {
            settings.state = state::block(cx, name, options);
            return;
        }
        SettingValue::Block(name, _) => return misplaced(cx, setting, name.span, "such a block stands only behind `state`"),
        SettingValue::Into(name) => return misplaced(cx, setting, name.span, "`into` stands only behind `on error`"),
        SettingValue::Checkpoint { every, .. } => {
            return misplaced(cx, setting, every.span, "`every` stands only behind `checkpoint`");
        }
        SettingValue::Expr(expr) => expr,
    };
    let mut count = |most: i128| match number(cx, expr) {
        Some(value) if (1..=most).contains(&value) => Some(value as u32),
        Some(_) => {
            cx.report_value(names::bad_setting(&setting.name.text, expr.span, &format!("a number from 1 to {most}")));
            None
        }
        None => None,
    };
    match setting.name.text.as_str() {
        "parallelism" => settings.parallelism = count(32_768).unwrap_or(1),
        "max_parallelism" => settings.max_parallelism = count(32_768).unwrap_or(32_768),
        "checkpoint" => {
            cx.report_value(names::bad_setting("checkpoint", expr.span, "`every 10s to \"./checkpoints\"`"));
        }
        "buffer_timeout" => match duration(cx, expr, "the buffer timeout") {
            Some(time) if time >= 0 => settings.buffer_timeout = time,
            Some(_) => cx.report_value(names::bad_setting("buffer_timeout", expr.span, "a duration of 0 or more")),
            None => {}
        },
        "ttl" => match duration(cx, expr, "the time after which state is forgotten") {
            Some(time) if time > 0 => settings.ttl = Some(time),
            Some(_) => cx.report_value(names::bad_setting("ttl", expr.span, "a duration of more than 0")),
            None => {}
        },
        "on error" | "on_error" => match word(expr) {
            Some("fail") => settings.on_error = ErrorPolicy::Fail,
            Some("skip") => settings.on_error = ErrorPolicy::Skip,
            _ => cx.report_value(names::bad_setting("on error", expr.span, "`fail`, `skip` or `into bad_rows`")),
        },
        "state" => settings.state = state::plain(cx, expr),
        "restart" => {
            if let Some(restart) = restart::lower(cx, expr) {
                settings.restart = restart;
            }
        }
        _ => cx.report(names::unknown_setting(&setting.name, SETTINGS)),
    }
}

fn word(expr: &ast::Expr) -> Option<&str> {
    match &expr.kind {
        ast::ExprKind::Name(word) => Some(word),
        _ => None,
    }
}

fn number<'a>(cx: &mut Context<'a>, expr: &'a ast::Expr) -> Option<i128> {
    match Typer::new(cx, Scope::Job).constant(expr, &Ty::Int64, "this setting")? {
        Literal::Int(value) => Some(value),
        _ => None,
    }
}

fn duration<'a>(cx: &mut Context<'a>, expr: &'a ast::Expr, what: &'static str) -> Option<i64> {
    match Typer::new(cx, Scope::Job).constant(expr, &Ty::Duration, what)? {
        Literal::Duration(value) => Some(value),
        _ => None,
    }
}

/// The name of the file, made a name of the language.
fn default_name(cx: &Context<'_>) -> String {
    let path = cx.sources.files().next().map_or(String::new(), |(_, file)| file.path.clone());
    let file = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = file.strip_suffix(".flow").unwrap_or(file);
    let name: String = stem.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    match name.chars().next() {
        Some(c) if !c.is_numeric() => name,
        _ => format!("job_{name}"),
    }
}
