//! `restart: none | fixed(3, 10s) | exponential(1s, 1m, factor: 1.5, jitter: 0.1, reset: 1h) | failure_rate(3, 5m, 10s)`.
//!
//! What is left out is as Flink has it.

use millstream_runtime::graph::{Backoff, FailureRate, Literal, RestartSettings, Ty};

use super::{duration, number, word};
use crate::hir::context::Context;
use crate::hir::errors::names;
use crate::hir::resolve::scope::Scope;
use crate::hir::types::Typer;
use crate::source::Span;
use crate::syntax::ast::{self, ArgumentValue};

/// Between two attempts where nothing is said.
const DELAY: i64 = 1_000_000;

const FIXED: &str = "`fixed(attempts, delay)`, such as `fixed(3, 10s)`";
const RATE: &str = "`failure_rate(failures, within, delay)`, such as `failure_rate(3, 5m, 10s)`";
const EXPONENTIAL: &str = "`exponential(first, most, factor: 1.5, jitter: 0.1, reset: 1h)`, the first delay no longer than the most, a \
                           factor of at least 1, a jitter from 0 to 1";

/// The value of `restart`; None where it is no good, which is reported.
pub(super) fn lower<'a>(cx: &mut Context<'a>, expr: &'a ast::Expr) -> Option<RestartSettings> {
    let (name, args): (&str, &'a [ast::Argument]) = match &expr.kind {
        ast::ExprKind::Call(call) => (call.function.text.as_str(), &call.args),
        _ => (word(expr).unwrap_or_default(), &[]),
    };
    let mut given = Given { cx, span: expr.span, positional: Vec::new(), named: Vec::new(), good: true };
    for argument in args {
        match (&argument.name, &argument.value) {
            (None, ArgumentValue::Expr(value)) => given.positional.push(value),
            (Some(name), ArgumentValue::Expr(value)) => given.named.push((name.text.as_str(), value)),
            _ => given.good = false,
        }
    }
    match name {
        "none" if args.is_empty() => Some(RestartSettings::None),
        "fixed" => {
            let attempts = given.count(0, 1);
            let delay = given.time(1, DELAY);
            given.end(2, &[], FIXED)?;
            Some(RestartSettings::Fixed { attempts, delay })
        }
        "failure_rate" => {
            let rate =
                FailureRate { failures: given.count(0, 1), within: given.time(1, 60_000_000), delay: given.time(2, DELAY) };
            given.end(3, &[], RATE)?;
            Some(RestartSettings::FailureRate(rate))
        }
        "exponential" => {
            let default = Backoff::DEFAULT;
            let backoff = Backoff {
                first: given.time(0, default.first),
                most: given.time(1, default.most),
                factor: given.share("factor", default.factor),
                jitter: given.share("jitter", default.jitter),
                reset: given.named_time("reset", default.reset),
            };
            given.good &= backoff.first > 0 && backoff.first <= backoff.most && backoff.factor >= 1000 && backoff.jitter <= 1000;
            given.end(2, &["factor", "jitter", "reset"], EXPONENTIAL)?;
            Some(RestartSettings::Exponential(backoff))
        }
        _ => {
            let known = "`none`, `fixed(attempts, delay)`, `exponential(first, most)` or `failure_rate(failures, within, delay)`";
            given.cx.report_value(names::bad_setting("restart", expr.span, known));
            None
        }
    }
}

/// The arguments of a strategy.
struct Given<'c, 'a> {
    cx: &'c mut Context<'a>,
    span: Span,
    positional: Vec<&'a ast::Expr>,
    named: Vec<(&'a str, &'a ast::Expr)>,
    good: bool,
}

impl<'a> Given<'_, 'a> {
    fn count(&mut self, at: usize, default: u32) -> u32 {
        let Some(expr) = self.positional.get(at).copied() else { return default };
        let count = number(self.cx, expr).and_then(|count| u32::try_from(count).ok());
        self.good &= count.is_some();
        count.unwrap_or(default)
    }

    fn time(&mut self, at: usize, default: i64) -> i64 {
        self.time_of(self.positional.get(at).copied(), default)
    }

    fn named_time(&mut self, name: &str, default: i64) -> i64 {
        self.time_of(self.value_of(name), default)
    }

    fn value_of(&self, name: &str) -> Option<&'a ast::Expr> {
        self.named.iter().find(|(given, _)| *given == name).map(|(_, expr)| *expr)
    }

    fn time_of(&mut self, expr: Option<&'a ast::Expr>, default: i64) -> i64 {
        let Some(expr) = expr else { return default };
        let time = duration(self.cx, expr, "this time of `restart`").filter(|time| *time >= 0);
        self.good &= time.is_some();
        time.unwrap_or(default)
    }

    /// A number such as 0.1, in thousandths.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked before")]
    fn share(&mut self, name: &str, default: u32) -> u32 {
        let Some(expr) = self.value_of(name) else { return default };
        let value = Typer::new(self.cx, Scope::Job).constant(expr, &Ty::Float64, "this number of `restart`");
        match value {
            Some(Literal::Float(value)) if (0.0..=1000.0).contains(&value) => (value * 1000.0).round() as u32,
            _ => {
                self.good = false;
                default
            }
        }
    }

    /// Reports what does not fit.
    fn end(self, positional: usize, named: &[&str], expected: &str) -> Option<()> {
        let twice = |at: usize| self.named[..at].iter().any(|(name, _)| *name == self.named[at].0);
        let known = self.named.iter().all(|(name, _)| named.contains(name));
        if self.good && known && self.positional.len() <= positional && !(0..self.named.len()).any(twice) {
            return Some(());
        }
        self.cx.report_value(names::bad_setting("restart", self.span, expected));
        None
    }
}
