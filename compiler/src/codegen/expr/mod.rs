//! Expressions as Rust.
//!
//! [`Lowering`] turns one typed expression into tokens that stand in a function returning `Result<_, EvalError>`. Null is
//! lifted by `match` on the optional operands, so that no operation ever sees one. Conditions short-circuit. Long chains of
//! binary operators (`a + b + c + ..`) are walked in a loop and cut into `let` statements, so that neither this code nor
//! rustc nests deeply on them.

mod access;
mod arithmetic;
mod branch;
mod call;
mod call_rust;
mod cast;
mod compare;
mod logic;
mod text;
mod value;

use std::collections::HashMap;

use millstream_runtime::graph::{BinaryOp, CastMode, Expr, ExprKind, Literal, Origin, Schema, Ty, UnaryOp, WindowBound};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::context::Context;
use super::doc;
use super::names::ident;
use super::tokens::can_fail;

pub(super) use branch::adapt;
pub(super) use value::{Hold, Value};

/// So many operators of a chain stand in one statement.
const CHAIN: usize = 24;

/// What the leaves of an expression mean where it stands.
#[derive(Default)]
pub(super) struct Bindings<'a> {
    /// The row whose columns are named: how it is called, and what it has.
    pub(super) row: Option<(TokenStream, &'a Schema)>,
    /// The columns of a pair of rows of a join: the row, what it has, and what the column is called there.
    pub(super) pair: HashMap<&'a str, (TokenStream, &'a Schema, &'a str)>,
    /// Optional records that are known to be there, by column: the variable that holds the record.
    pub(super) unwrapped: HashMap<&'a str, TokenStream>,
    /// Parameters of a user's function.
    pub(super) locals: HashMap<&'a str, Value>,
    /// Group keys, in the output of an aggregate.
    pub(super) keys: Vec<Value>,
    /// Results of aggregate calls, in the output of an aggregate.
    pub(super) calls: Vec<Value>,
    /// The rows of the stages whose ends are known as `ends`.
    pub(super) stages: Option<&'a Schema>,
}

/// Lowers the expressions of one closure or function.
pub(super) struct Lowering<'a> {
    pub(super) cx: &'a Context<'a>,
    bindings: Bindings<'a>,
    /// `let` statements of the blocks that are open, the outermost first.
    blocks: Vec<Vec<TokenStream>>,
    /// Number of the next variable.
    next: u32,
    /// Whether a param or an environment variable was used: then `params` must be in reach.
    pub(super) uses_params: bool,
    /// Where the node being lowered stands in the text; that of the node around it for nodes made by the compiler.
    origin: &'a Origin,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(cx: &'a Context<'a>, origin: &'a Origin, bindings: Bindings<'a>) -> Self {
        Lowering { cx, bindings, blocks: vec![Vec::new()], next: 1, uses_params: false, origin }
    }

    /// The statements that must come before the expressions lowered so far.
    pub(super) fn take_statements(&mut self) -> TokenStream {
        let statements = std::mem::take(&mut self.blocks[0]);
        quote!(#(#statements)*)
    }

    /// Lowers an expression.
    pub(super) fn lower(&mut self, expr: &'a Expr) -> Value {
        let around = self.origin;
        if expr.origin.line != 0 {
            self.origin = &expr.origin;
        }
        let value = self.lower_kind(expr);
        self.origin = around;
        value
    }

    fn lower_kind(&mut self, expr: &'a Expr) -> Value {
        match &expr.kind {
            ExprKind::Literal(value) => self.literal(value, &expr.ty),
            ExprKind::Column(name) => self.column(name, &expr.ty),
            ExprKind::Param(name) => self.param(&format!("param {name}"), &expr.ty),
            ExprKind::Env(name) => self.param(&format!("env {name}"), &expr.ty),
            ExprKind::StageEnd(stage, fact) => self.stage_end(stage, fact, &expr.ty),
            ExprKind::Local(name) => match self.bindings.locals.get(name.as_str()) {
                Some(value) => value.clone(),
                None => never(),
            },
            ExprKind::Window(WindowBound::Start) => Value::closed(quote!(window.start), Hold::Copy),
            ExprKind::Window(WindowBound::End) => Value::closed(quote!(window.end), Hold::Copy),
            ExprKind::Key(index) => self.bindings.keys.get(*index).cloned().unwrap_or_else(never),
            ExprKind::Aggregate(index) => self.bindings.calls.get(*index).cloned().unwrap_or_else(never),
            ExprKind::Field(base, name) => self.field(base, name, &expr.ty),
            ExprKind::Index(base, index) => self.index(base, index),
            ExprKind::Unary(op, operand) => self.unary(*op, operand),
            ExprKind::Binary(..) => self.chain(expr),
            ExprKind::Coalesce(first, second) => self.coalesce(first, second),
            ExprKind::IsNull(operand) => self.null_check(operand, true),
            ExprKind::In(subject, list) => self.in_list(subject, list),
            ExprKind::If(..) => self.if_else(expr),
            ExprKind::Match { subject, arms, otherwise } => self.match_arms(subject, arms, otherwise, &expr.ty),
            ExprKind::Cast(mode, operand) => self.cast(*mode, operand, &expr.ty),
            ExprKind::Call { function, args } => self.call(function, args, &expr.ty),
            ExprKind::CallRust { function, args } => self.call_rust(function, args, &expr.ty),
            ExprKind::CallUser { function, args } => self.call_user(function, args, &expr.ty),
            ExprKind::Format(parts) => self.format(parts),
            ExprKind::List(items) => self.list(items, &expr.ty),
            ExprKind::Record(fields) => self.record(fields, &expr.ty),
            ExprKind::Error => never(),
        }
    }

    /// Lowers an expression and makes the value owned.
    pub(super) fn lower_owned(&mut self, expr: &'a Expr) -> Value {
        self.lower(expr).owned(&expr.ty)
    }

    /// Lowers a column (or a field of one, or a column made optional or required) so that its value is moved, not cloned.
    pub(super) fn lower_moved(&mut self, expr: &'a Expr) -> Value {
        let around = self.origin;
        if expr.origin.line != 0 {
            self.origin = &expr.origin;
        }
        let value = match &expr.kind {
            ExprKind::Cast(CastMode::NotNull, _) => {
                let value = self.lower(expr);
                if value.hold == Hold::Place { moved(value) } else { self.moved_cast(expr) }
            }
            ExprKind::Cast(..) => self.moved_cast(expr),
            ExprKind::Field(base, _) if base.ty.is_optional() => self.lower_owned(expr),
            _ => {
                let value = self.lower(expr);
                if value.hold == Hold::Place { moved(value) } else { value.owned(&expr.ty) }
            }
        };
        self.origin = around;
        value
    }

    /// A cast between `T` and `T?` of a moved value.
    fn moved_cast(&mut self, expr: &'a Expr) -> Value {
        let ExprKind::Cast(_, inner) = &expr.kind else { return self.lower_owned(expr) };
        let value = self.lower_moved(inner);
        match (inner.ty.is_optional(), expr.ty.is_optional()) {
            (true, false) => self.required(value, &inner.ty),
            (false, true) => branch::adapt(value, &inner.ty, &expr.ty),
            _ => value,
        }
    }

    /// Puts `let bid = required(row.bid)..?;` before what is lowered next, and takes the record from there.
    pub(super) fn unwrap_record(&mut self, column: &'a str) {
        let Some((row, schema)) = self.bindings.row.clone() else { return };
        let field = self.cx.types.borrow_mut().field(schema, column);
        let taken = ["row", "params", "change"].iter().any(|taken| field == taken);
        let name = if taken { self.variable() } else { field.clone() };
        let value = self.fallible(quote!(required(#row.#field)), Hold::Owned).tokens;
        if let Some(block) = self.blocks.first_mut() {
            block.push(quote!(let #name = #value;));
        }
        self.bindings.unwrapped.insert(column, quote!(#name));
    }

    /// Lowers an expression as an operand: `Copy` types by value, others by reference.
    pub(super) fn lower_borrowed(&mut self, expr: &'a Expr) -> Value {
        self.lower(expr).borrowed(&expr.ty)
    }

    fn literal(&mut self, value: &Literal, ty: &Ty) -> Value {
        if *value == Literal::Null {
            return Value::closed(quote!(None), Hold::Copy);
        }
        let tokens = self.cx.literal(value, ty);
        let hold = if ty.is_copy() { Hold::Copy } else { Hold::Reference };
        if matches!(ty, Ty::Optional(_)) {
            return Value::closed(quote!(Some(#tokens)), hold);
        }
        let negative = tokens.to_string().starts_with('-');
        Value { tokens, hold, open: negative }
    }

    fn column(&mut self, name: &str, ty: &Ty) -> Value {
        if let Some((row, schema, own)) = self.bindings.pair.get(name) {
            let field = self.cx.types.borrow_mut().field(schema, own);
            return place(quote!(#row.#field), ty);
        }
        let Some((row, schema)) = &self.bindings.row else { return never() };
        let field = self.cx.types.borrow_mut().field(schema, name);
        place(quote!(#row.#field), ty)
    }

    fn param(&mut self, name: &str, ty: &Ty) -> Value {
        self.uses_params = true;
        let field = self.cx.params.borrow_mut().field(name);
        place(quote!(params.#field), ty)
    }

    fn unary(&mut self, op: UnaryOp, operand: &'a Expr) -> Value {
        if let (UnaryOp::Not, ExprKind::IsNull(inner)) = (op, &operand.kind) {
            return self.null_check(inner, false);
        }
        let operands = vec![(self.lower_borrowed(operand), &operand.ty)];
        let float = operand.ty.required().is_float();
        self.lift(operands, false, |lowering, values| {
            let operand = &values[0];
            let (tokens, inside) = (&operand.tokens, operand.operand());
            match op {
                UnaryOp::Not => Value::open(quote!(!#inside), Hold::Copy),
                UnaryOp::Negate if float => Value::open(quote!(-#inside), Hold::Copy),
                UnaryOp::Negate => lowering.fallible(quote!(arith::neg(#tokens)), Hold::Copy),
            }
        })
    }

    /// A binary operator, and all that stand on the left of it.
    fn chain(&mut self, expr: &'a Expr) -> Value {
        let mut spine = Vec::new();
        let mut leftmost = expr;
        while let ExprKind::Binary(op, left, right) = &leftmost.kind {
            spine.push((leftmost, *op, &**left, &**right));
            leftmost = left;
        }
        let mut value = self.lower(leftmost);
        let around = self.origin;
        for (count, (node, op, left, right)) in spine.into_iter().rev().enumerate() {
            if node.origin.line != 0 {
                self.origin = &node.origin;
            }
            if count % CHAIN == CHAIN - 1 {
                value = self.hoist(value, &left.ty);
            }
            value = self.binary(op, value, left, right, &node.ty);
        }
        self.origin = around;
        value
    }

    fn binary(&mut self, op: BinaryOp, left_value: Value, left: &'a Expr, right: &'a Expr, ty: &'a Ty) -> Value {
        match op {
            BinaryOp::And | BinaryOp::Or => self.connective(op, left_value, &left.ty, right),
            BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessOrEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterOrEqual => self.comparison(op, left_value, &left.ty, right),
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => {
                self.arithmetic(op, left_value, &left.ty, right, ty)
            }
            BinaryOp::Like | BinaryOp::Matches => self.pattern(op, left_value, &left.ty, right),
        }
    }

    /// Puts a value into a variable of the innermost open block.
    fn hoist(&mut self, value: Value, ty: &Ty) -> Value {
        let value = value.owned(ty);
        let (name, tokens) = (self.variable(), &value.tokens);
        if let Some(block) = self.blocks.last_mut() {
            block.push(quote!(let #name = #tokens;));
        }
        place(quote!(#name), ty)
    }

    /// A name that nothing else in this closure has.
    fn variable(&mut self) -> Ident {
        let name = ident(&format!("v{}", self.next));
        self.next += 1;
        name
    }

    /// Lowers what is only evaluated in some cases: its statements stay with it.
    fn block(&mut self, lower: impl FnOnce(&mut Self) -> Value) -> Value {
        self.blocks.push(Vec::new());
        let value = lower(self);
        let statements = self.blocks.pop().unwrap_or_default();
        if statements.is_empty() {
            return value;
        }
        let tokens = value.tokens;
        Value::open(quote!({ #(#statements)* #tokens }), value.hold)
    }

    /// A call that returns a `Result`, with its place in the text on the way out.
    fn fallible(&mut self, call: TokenStream, hold: Hold) -> Value {
        let (text, place) = (&self.origin.text, doc::place(self.origin));
        Value::closed(quote!(#call.at(#text, #place)?), hold)
    }

    /// As [`fallible`](Self::fallible), with the place of something that is no expression.
    pub(super) fn fallible_at(&self, call: TokenStream, origin: &Origin) -> TokenStream {
        let (text, place) = self.place(origin);
        quote!(#call.at(#text, #place)?)
    }

    /// Ties the error of a result to the place of an expression.
    pub(super) fn at_place(&self, result: &TokenStream, origin: &Origin) -> TokenStream {
        let (text, place) = self.place(origin);
        quote!(#result.at(#text, #place))
    }

    /// The text of something and where it stands; that of what is around it, if its own is not known.
    pub(super) fn place<'o>(&'o self, origin: &'o Origin) -> (&'o str, String) {
        let origin = if origin.line == 0 { self.origin } else { origin };
        (&origin.text, doc::place(origin))
    }

    /// Says what group keys and aggregate calls are, for the output of an aggregate.
    pub(super) fn bind_group(&mut self, keys: Vec<Value>, calls: Vec<Value>) {
        self.bindings.keys = keys;
        self.bindings.calls = calls;
    }

    /// Several values as one tuple, which is null where one of them is.
    pub(super) fn tuple(&mut self, operands: Vec<(Value, Ty)>) -> TokenStream {
        let operands = operands.iter().map(|(value, ty)| (value.clone(), ty)).collect();
        let value = self.lift(operands, false, |_, values| {
            let values = values.iter().map(|value| &value.tokens);
            Value::closed(quote!((#(#values),*)), Hold::Owned)
        });
        value.tokens
    }

    /// Applies `body` to operands that are there; where one of them is null the result is null. With `flat` the body gives
    /// an optional value itself.
    fn lift(&mut self, operands: Vec<(Value, &Ty)>, flat: bool, body: impl FnOnce(&mut Self, Vec<Value>) -> Value) -> Value {
        if operands.iter().any(|(_, ty)| **ty == Ty::Null) {
            return Value::closed(quote!(None), Hold::Copy);
        }
        let lifted = operands.iter().any(|(_, ty)| ty.is_optional());
        let (mut subjects, mut patterns, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (value, ty) in operands {
            // An operand that can fail is evaluated also beside a null.
            if ty.is_optional() || (lifted && can_fail(&value.tokens)) {
                let name = self.variable();
                values.push(Value::closed(quote!(#name), value.hold));
                subjects.push(value.tokens);
                patterns.push(if ty.is_optional() { quote!(Some(#name)) } else { quote!(#name) });
            } else {
                values.push(value);
            }
        }
        if subjects.is_empty() {
            return body(self, values);
        }
        let result = self.block(|lowering| body(lowering, values));
        let tokens = &result.tokens;
        let some = if flat { quote!(#tokens) } else { quote!(Some(#tokens)) };
        let tokens = match (&subjects[..], &patterns[..]) {
            ([subject], [pattern]) => quote!(match #subject { #pattern => #some, None => None }),
            _ => quote!(match (#(#subjects),*) { (#(#patterns),*) => #some, _ => None }),
        };
        Value::open(tokens, result.hold)
    }
}

/// A place whose value is taken.
fn moved(value: Value) -> Value {
    Value { hold: Hold::Owned, ..value }
}

/// A name that owns its value, by how its type is passed.
pub(super) fn place(tokens: TokenStream, ty: &Ty) -> Value {
    Value::closed(tokens, if ty.is_copy() { Hold::Copy } else { Hold::Place })
}

/// What the front end never lets through.
fn never() -> Value {
    Value::closed(quote!(unreachable!()), Hold::Copy)
}
