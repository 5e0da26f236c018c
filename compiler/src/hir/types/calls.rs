//! Calls: casts, the standard library by its signatures, and the user's own functions.

use std::collections::BTreeMap;

use millstream_runtime::functions;
use millstream_runtime::graph::{CastMode, Expr, ExprKind, Literal, Pattern, Signature, Ty};

use super::casts::{adapt, cast, castable};
use super::common::{common, is_flexible};
use super::decimals;
use super::typer::Typer;
use crate::hir::errors::{names, tables, types};
use crate::hir::resolve::scope::Scope;
use crate::source::Span;
use crate::syntax::ast::{self, ArgumentValue, Call};

/// What a bound call gives.
pub struct Bound {
    pub args: Vec<Expr>,
    pub result: Ty,
    /// An argument of a required parameter is optional, so the result is too.
    pub lifted: bool,
}

impl<'a> Typer<'_, 'a> {
    pub fn call(&mut self, expr: &'a ast::Expr, call: &'a Call) -> Expr {
        let name = call.function.text.as_str();
        // One that was rejected counts too: its calls are no further mistakes.
        let own = self.cx.items.function_names.contains(name);
        if !own && let Some(mode) = cast_mode(name) {
            return self.written_cast(mode, call, expr.span);
        }
        if own && self.cx.waits(name).is_some() {
            let span = expr.span;
            if let Some(answer) = self.answer(span) {
                return answer;
            }
            if !self.may_wait {
                let itself = self.cx.rust_functions.contains_key(name);
                return self.reject(crate::rust::waits_not_here(&call.function, itself), span);
            }
        }
        let aggregate = self.cx.aggregate(name).filter(|_| !own);
        let function = functions::find(name).filter(|_| !own);
        if let Some(spec) = aggregate {
            if matches!(self.scope, Scope::Output(_)) {
                return self.aggregate(expr, call, spec);
            }
            if function.is_none() {
                let diagnostic = match self.in_aggregate {
                    true => tables::nested_aggregate(&call.function),
                    false => tables::aggregate_outside(&call.function),
                };
                return self.reject(diagnostic, expr.span);
            }
        }
        if !own && function.is_none() && millstream_runtime::aggregates::find_analytic(name).is_some() {
            return self.reject(crate::hir::errors::over::needs_over(name, call.function.span), expr.span);
        }
        self.no_aggregate(call);
        let Some((args, spans)) = self.arguments(call) else { return self.error(expr.span) };
        if own {
            return self.user_call(call, args, &spans, expr.span);
        }
        let Some(spec) = function else {
            return self.no_function(call, expr.span);
        };
        let Some(signature) = self.signature(spec.signature) else { return self.error(expr.span) };
        match self.bind(&signature, spec.signature, args, &spans, call.function.span) {
            Some(bound) => {
                let ty = if bound.lifted { bound.result.optional() } else { bound.result };
                self.make(ExprKind::Call { function: spec.name, args: bound.args }, ty, expr.span)
            }
            None => self.error(expr.span),
        }
    }

    /// What only aggregates have.
    fn no_aggregate(&mut self, call: &Call) {
        let name = call.function.text.as_str();
        if let Some(span) = call.distinct {
            self.cx.report(tables::not_an_aggregate("distinct", span, name));
        }
        if let Some(filter) = &call.filter {
            self.cx.report(tables::not_an_aggregate("where", filter.span, name));
        }
    }

    fn no_function(&mut self, call: &Call, span: Span) -> Expr {
        let name = &call.function;
        // A `fn` that does not parse, which has been reported.
        if self.cx.items.broken.contains(name.text.as_str()) {
            return self.error(span);
        }
        if let Some(plain) = self.cx.rust.iter().flat_map(|file| &file.plain).find(|plain| plain.text == name.text) {
            return self.reject(crate::rust::not_annotated(name, plain.span), span);
        }
        if let Some(diagnostic) = self.cx.left_out(name) {
            return self.reject(diagnostic, span);
        }
        let own = self.cx.items.functions.iter().map(|entry| entry.node.name.text.as_str());
        let mut candidates: Vec<&str> =
            own.chain(self.cx.rust_functions.keys().copied()).chain(functions::FUNCTIONS.iter().map(|spec| spec.name)).collect();
        candidates.extend(millstream_runtime::aggregates::AGGREGATES.iter().map(|spec| spec.name));
        candidates.extend(self.cx.aggregates.keys().copied());
        let diagnostic = match name.text.as_str() {
            "tumbling" | "sliding" | "session" | "cumulative" | "calendar" => names::not_a_value(
                &name.text,
                name.span,
                "a window",
                "windows stand behind `over`: `aggregate by .. over tumbling(1h) { .. }`",
            ),
            "now" | "today" | "current_timestamp" | "current_date" | "current_time" | "localtimestamp" => {
                names::no_clock(&name.text, name.span)
            }
            _ => names::unknown_function(name, &candidates),
        };
        self.reject(diagnostic, span)
    }

    /// Positional arguments, typed. None: one is named or a type (reported).
    pub fn arguments(&mut self, call: &'a Call) -> Option<(Vec<Expr>, Vec<Span>)> {
        let mut args = Vec::with_capacity(call.args.len());
        let mut fine = true;
        for argument in &call.args {
            if let Some(name) = &argument.name {
                self.cx.report(types::named_argument(&call.function.text, name.span));
                fine = false;
            }
            match &argument.value {
                ArgumentValue::Expr(value) => args.push(self.expr(value)),
                ArgumentValue::Type(ty) => {
                    self.cx.report(types::type_argument(&call.function.text, ty.span));
                    fine = false;
                }
            }
        }
        let spans = call.args.iter().map(|argument| argument.span).collect();
        fine.then_some((args, spans))
    }

    /// A signature of the library. One that cannot be read is a mistake in the library, which its tests find.
    pub fn signature(&mut self, text: &str) -> Option<Signature> {
        Signature::parse(text).ok()
    }

    fn user_call(&mut self, call: &'a Call, args: Vec<Expr>, spans: &[Span], span: Span) -> Expr {
        let name = call.function.text.as_str();
        let Some(function) = self.cx.functions.get(name).cloned() else { return self.error(span) };
        let shown = function.params.iter().map(|(name, ty)| format!("{name}: {ty}")).collect::<Vec<_>>().join(", ");
        let shown = format!("{name}({shown}) -> {}", function.result);
        if args.len() != function.params.len() {
            return self.reject(types::argument_count(name, call.function.span, args.len(), &shown), span);
        }
        let mut lifted = false;
        let mut fitted = Vec::with_capacity(args.len());
        for ((arg, (param, ty)), arg_span) in args.into_iter().zip(&function.params).zip(spans) {
            let lifts = arg.ty.is_optional() && !ty.is_optional();
            lifted |= lifts;
            let target = if lifts { ty.clone().optional() } else { ty.clone() };
            fitted.push(match adapt(arg, &target) {
                Ok(arg) => arg,
                Err(arg) => self.reject(types::argument(name, param, *arg_span, &ty.to_string(), &arg.ty, &shown), *arg_span),
            });
        }
        let ty = if lifted { function.result.optional() } else { function.result };
        self.make(ExprKind::CallUser { function: name.to_owned(), args: fitted }, ty, span)
    }

    /// Brings arguments to the types of a signature. None: reported.
    pub fn bind(&mut self, signature: &Signature, shown: &str, args: Vec<Expr>, spans: &[Span], name: Span) -> Option<Bound> {
        let function = signature.name.as_str();
        let most = signature.most();
        if args.len() < signature.least() || most.is_some_and(|most| args.len() > most) {
            self.cx.report(types::argument_count(function, name, args.len(), shown));
            return None;
        }
        let variables = self.variables(signature, shown, &args, spans)?;
        let mut bound = Bound { args: Vec::with_capacity(args.len()), result: Ty::Error, lifted: false };
        let broken = args.iter().any(|arg| arg.ty == Ty::Error);
        for (index, arg) in args.into_iter().enumerate() {
            let span = spans.get(index).copied().unwrap_or(name);
            let Some(param) = signature.parameter(index) else { continue };
            let takes_null = matches!(param.ty, Pattern::Optional(_));
            let lifts = arg.ty.is_optional() && !takes_null;
            let arg = match param.ty {
                Pattern::Decimal => decimals::exact(arg).unwrap_or_else(|arg| arg),
                _ => arg,
            };
            let Some(target) = instance(&param.ty, &variables, &arg.ty) else {
                if !broken {
                    self.cx.report(types::type_unknown(span, "`null`"));
                }
                return None;
            };
            if let (Pattern::Regex, ExprKind::Literal(Literal::String(pattern))) = (&param.ty, &arg.kind)
                && let Err(message) = check_regex(pattern)
            {
                self.cx.report(types::bad_regex(span, &message));
                return None;
            }
            if let (ExprKind::Literal(Literal::String(text)), Some(spec)) = (&arg.kind, functions::find(function))
                && let Some((_, check)) = spec.literal.filter(|(checked, _)| *checked == param.name)
                && let Err(message) = check(text)
            {
                self.cx.report(types::bad_literal(function, &param.name, span, &message));
                return None;
            }
            if let (ExprKind::Literal(Literal::String(zone)), "zone") = (&arg.kind, param.name.as_str())
                && functions::find(function).is_some()
                && let Some(diagnostic) = crate::hir::zones::check(zone, span)
            {
                self.cx.report(diagnostic);
                return None;
            }
            bound.lifted |= lifts;
            let target = if lifts { target.optional() } else { target };
            match adapt(arg, &target) {
                Ok(arg) => bound.args.push(arg),
                Err(arg) => {
                    let expected = match param.ty {
                        Pattern::Regex => "a regular expression (a string)".to_owned(),
                        _ => target.required().to_string(),
                    };
                    let mut diagnostic = types::argument(function, &param.name, span, &expected, &arg.ty, shown);
                    if let Some(help) = super::typer::help(&arg, &target) {
                        diagnostic = diagnostic.with_note(help);
                    }
                    self.cx.report(diagnostic);
                    return None;
                }
            }
        }
        if broken {
            return None;
        }
        let decimal = bound.args.iter().map(|arg| arg.ty.required()).find(|ty| ty.is_decimal()).cloned();
        bound.result = instance(&signature.result, &variables, &decimal.unwrap_or(Ty::Error))?;
        Some(bound)
    }

    /// What the type variables of a signature stand for in this call. None: reported.
    fn variables(&mut self, signature: &Signature, shown: &str, args: &[Expr], spans: &[Span]) -> Option<BTreeMap<char, Ty>> {
        let mut found: BTreeMap<char, (Ty, bool)> = BTreeMap::new();
        // What is no literal decides first; literals follow.
        for flexible in [false, true] {
            for (index, arg) in args.iter().enumerate().filter(|(_, arg)| is_flexible(arg) == flexible) {
                let Some(param) = signature.parameter(index) else { continue };
                let mut pairs = Vec::new();
                matched(&param.ty, &arg.ty, &mut pairs);
                for (variable, ty) in pairs {
                    let wrong = match class(variable, &ty) {
                        Some(expected) => Some(expected.to_owned()),
                        None => match found.get(&variable) {
                            None => {
                                found.insert(variable, (ty.clone(), flexible));
                                None
                            }
                            Some((_, false)) if flexible && adapt(arg.clone(), &found[&variable].0).is_ok() => None,
                            Some((before, _)) => match common(before, &ty) {
                                Some(both) => {
                                    found.insert(variable, (both, false));
                                    None
                                }
                                None => Some(before.to_string()),
                            },
                        },
                    };
                    if let Some(expected) = wrong {
                        let span = spans.get(index).copied().unwrap_or_default();
                        self.cx.report(types::argument(&signature.name, &param.name, span, &expected, &arg.ty, shown));
                        return None;
                    }
                }
            }
        }
        Some(found.into_iter().map(|(variable, (ty, _))| (variable, float_at_least(variable, ty))).collect())
    }

    /// `cast(x, int64)`, `try_cast(x, int64)`
    fn written_cast(&mut self, mode: CastMode, call: &'a Call, span: Span) -> Expr {
        let usage = format!("{}(value, type)", call.function.text);
        let (value, ty) = match call.args.as_slice() {
            [value, ty] => (&value.value, &ty.value),
            _ => {
                return self
                    .reject(types::argument_count(&call.function.text, call.function.span, call.args.len(), &usage), span);
            }
        };
        let (ArgumentValue::Expr(value), ArgumentValue::Type(ty)) = (value, ty) else {
            let count = types::argument_count(&call.function.text, call.function.span, call.args.len(), &usage);
            return self.reject(count, span);
        };
        let typed = self.expr(value);
        let to = self.cx.ty(ty);
        if typed.ty == Ty::Error || to == Ty::Error {
            return self.error(span);
        }
        if typed.ty == Ty::Null {
            let null = Expr { ty: to.optional(), ..typed };
            return null;
        }
        let (from, target) = (typed.ty.required().clone(), to.required().clone());
        if let Err(help) = castable(&from, &target) {
            return self.reject(types::no_cast(value.span, &typed.ty, &to, help), span);
        }
        let optional = typed.ty.is_optional() || to.is_optional() || mode == CastMode::Try;
        // A literal that fits is simply of that type.
        let typed = match adapt(typed, &target) {
            Ok(literal) if matches!(literal.kind, ExprKind::Literal(_)) && !optional => return literal,
            Ok(typed) | Err(typed) => typed,
        };
        let ty = if optional { target.optional() } else { target };
        match &typed.kind {
            // Widened already by the line above.
            ExprKind::Cast(CastMode::Implicit, _) if typed.ty == ty => typed,
            _ => Expr { origin: self.cx.origin(span), ..cast(mode, typed, ty) },
        }
    }
}

fn cast_mode(name: &str) -> Option<CastMode> {
    match name {
        "cast" => Some(CastMode::Checked),
        "try_cast" => Some(CastMode::Try),
        _ => None,
    }
}

/// Pairs of variables and types where a pattern meets a type.
fn matched(pattern: &Pattern, ty: &Ty, out: &mut Vec<(char, Ty)>) {
    match (pattern, ty.required()) {
        (_, Ty::Null | Ty::Error) => {}
        (Pattern::Variable(variable), ty) => out.push((*variable, ty.clone())),
        (Pattern::Optional(inner), ty) => matched(inner, ty, out),
        (Pattern::List(inner), Ty::List(item)) => match (&**inner, &**item) {
            (Pattern::Variable(variable), item) if !matches!(item, Ty::Null | Ty::Error) => out.push((*variable, item.clone())),
            (inner, item) => matched(inner, item, out),
        },
        (Pattern::Map(key, value), Ty::Map(key_type, value_type)) => {
            matched(key, key_type, out);
            match &**value {
                Pattern::Variable(variable) => out.push((*variable, (**value_type).clone())),
                value => matched(value, value_type, out),
            }
        }
        _ => {}
    }
}

/// The type of a pattern; `own` is the argument's, for any decimal.
fn instance(pattern: &Pattern, variables: &BTreeMap<char, Ty>, own: &Ty) -> Option<Ty> {
    Some(match pattern {
        Pattern::Exactly(ty) => ty.clone(),
        Pattern::Variable(variable) => variables.get(variable)?.clone(),
        Pattern::Regex => Ty::String,
        Pattern::Decimal if own.required().is_decimal() => own.required().clone(),
        Pattern::Decimal => Ty::Decimal { precision: 38, scale: 10 },
        Pattern::List(inner) => Ty::List(Box::new(instance(inner, variables, own)?)),
        Pattern::Map(key, value) => Ty::Map(Box::new(instance(key, variables, own)?), Box::new(instance(value, variables, own)?)),
        Pattern::Optional(inner) => instance(inner, variables, own)?.optional(),
    })
}

/// What a variable demands, where this type does not meet it.
fn class(variable: char, ty: &Ty) -> Option<&'static str> {
    match variable {
        'N' if !ty.is_numeric() => Some("a number"),
        'I' if !ty.is_integer() => Some("an integer"),
        'F' if !ty.is_numeric() || ty.is_decimal() => Some("a float"),
        'O' if !ty.is_ordered() => Some("a value that has an order"),
        _ => None,
    }
}

/// Integers given for a float variable become floats.
fn float_at_least(variable: char, ty: Ty) -> Ty {
    if variable == 'F' && ty.is_integer() { Ty::Float64 } else { ty }
}

/// What is wrong with a pattern, in one line.
pub fn check_regex(pattern: &str) -> Result<(), String> {
    match regex_syntax::Parser::new().parse(pattern) {
        Ok(_) => Ok(()),
        Err(regex_syntax::Error::Parse(error)) => Err(error.kind().to_string()),
        Err(regex_syntax::Error::Translate(error)) => Err(error.kind().to_string()),
        Err(_) => Err("not a regular expression".to_owned()),
    }
}
