//! Typed expressions: what the front end makes of the text, what passes rewrite, and what code generation prints.
//!
//! Every node carries its type. Operands of a binary operator already have one common type (apart from being
//! optional or not): the front end inserts casts. Null is lifted: an operator whose operand is `T?` has type `U?`.

use std::cmp::Ordering;

use super::rust::RustFunction;
use super::ty::Ty;

/// Where something stands in the user's text, for messages of the running job and for generated doc comments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The path as the user named it (`orders.flow`).
    pub file: String,
    /// 1-based.
    pub line: u32,
    /// 1-based, in characters.
    pub column: u32,
    /// The text itself, on one line, shortened to about 80 characters.
    pub text: String,
}

/// A typed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Ty,
    pub origin: Origin,
}

/// What an expression does.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Literal(Literal),
    /// A column of the operator's input row.
    Column(String),
    /// `param since`: a value given when the job starts.
    Param(String),
    /// `$NAME`: an environment variable read when the job starts; always a string.
    Env(String),
    /// `history.max(placed_at)`, `history.end_time`: how an earlier stage of a hybrid source ended, by its name. Only in
    /// options of stages.
    StageEnd(String, StageFact),
    /// A parameter of the user's own `fn` whose body this is.
    Local(String),
    /// `window.start` / `window.end`, in the output of an aggregate with a time window.
    Window(WindowBound),
    /// The value of one group key (index into `Aggregate::keys`), in the output of an aggregate.
    Key(usize),
    /// The value of one aggregate call (index into `Aggregate::calls`), in the output of an aggregate.
    Aggregate(usize),
    /// `record.field`, also on an optional record (`a?.b`), where the result is optional.
    Field(Box<Expr>, String),
    /// `list[0]` (0-based; out of range is null) or `map["k"]` (absent is null): always optional.
    Index(Box<Expr>, Box<Expr>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a ?? b`: the type is that of `b` (required if `b` is).
    Coalesce(Box<Expr>, Box<Expr>),
    /// `a is null`, never null itself.
    IsNull(Box<Expr>),
    /// `x in [a, b]` with any expressions of one common type.
    In(Box<Expr>, Vec<Expr>),
    /// `if c then a else b`; a null condition takes the else branch.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `match x { lit, lit => a, _ => b }`. Arms in order, each a list of literals (null included) and its result.
    Match {
        subject: Box<Expr>,
        arms: Vec<(Vec<Expr>, Expr)>,
        otherwise: Box<Expr>,
    },
    /// Conversion to this node's type.
    Cast(CastMode, Box<Expr>),
    /// A function of the standard library, by name; see `functions::find`.
    Call {
        function: &'static str,
        args: Vec<Expr>,
    },
    /// A function of the user's own (`fn euros(..) = ..`), by name; see `JobGraph::functions`.
    CallUser {
        function: String,
        args: Vec<Expr>,
    },
    /// A function in a Rust file of the user. Stands alone as the body of a function, over its locals.
    CallRust {
        function: Box<RustFunction>,
        args: Vec<Expr>,
    },
    /// `f"{carrier}-{day}"`: the parts are literals and values of any scalar type. A null part makes the result null.
    Format(Vec<Expr>),
    List(Vec<Expr>),
    Record(Vec<(String, Expr)>),
    /// Where the text was wrong. Never reaches planning.
    Error,
}

/// What may be asked of a stage that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StageFact {
    /// The greatest value of a column over all of its rows; null where there was none.
    Max(String),
    /// When its splits were looked for, by the clock.
    StartTime,
    /// When it had been read, by the clock.
    EndTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowBound {
    Start,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Not,
    Negate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Three-valued, as SQL.
    And,
    /// Three-valued, as SQL.
    Or,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// Numbers; timestamp + duration; date + duration (a timestamp); duration + duration; string + string.
    Add,
    /// Numbers; timestamp - duration; timestamp - timestamp (a duration); duration - duration.
    Subtract,
    /// Numbers; duration * integer.
    Multiply,
    /// Numbers; duration / integer. Integers truncate towards zero; floats follow IEEE 754.
    Divide,
    Remainder,
    /// SQL `like`: `%` and `_`.
    Like,
    /// Regular expression found anywhere.
    Matches,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastMode {
    /// Inserted by the compiler; always succeeds without loss (int32 to int64, int to decimal wide enough, T to T?).
    Implicit,
    /// `cast(x, T)`: an evaluation error where it does not fit.
    Checked,
    /// `try_cast(x, T)`: null where it does not fit.
    Try,
    /// From `T?` to `T`, inserted by the compiler behind `where x is not null`. A null is an evaluation error (a bug).
    /// Stands around a column or a field of one, so `row.bid.as_ref().map(|bid| bid.price)` comes first, then the check.
    NotNull,
}

impl BinaryOp {
    /// `and` and `or`: the right operand is evaluated only if the left one leaves the answer open.
    pub fn is_lazy(self) -> bool {
        matches!(self, BinaryOp::And | BinaryOp::Or)
    }
}

/// A value known at compile time. Its type is in the node around it.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    Null,
    Bool(bool),
    /// Any integer type.
    Int(i128),
    /// Any float type.
    Float(f64),
    /// The unscaled value; the scale is that of the type.
    Decimal(i128),
    String(String),
    Bytes(Vec<u8>),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds since the epoch, UTC.
    Timestamp(i64),
    /// Microseconds.
    Duration(i64),
}

impl Literal {
    /// The order of two literals of one type; those of an enum by their names. None: they have none, as null and NaN.
    pub fn order(&self, other: &Literal) -> Option<Ordering> {
        match (self, other) {
            (Literal::Bool(a), Literal::Bool(b)) => Some(a.cmp(b)),
            (Literal::Int(a), Literal::Int(b)) | (Literal::Decimal(a), Literal::Decimal(b)) => Some(a.cmp(b)),
            (Literal::Float(a), Literal::Float(b)) => a.partial_cmp(b),
            (Literal::String(a), Literal::String(b)) => Some(a.cmp(b)),
            (Literal::Bytes(a), Literal::Bytes(b)) => Some(a.cmp(b)),
            (Literal::Date(a), Literal::Date(b)) => Some(a.cmp(b)),
            (Literal::Time(a), Literal::Time(b))
            | (Literal::Timestamp(a), Literal::Timestamp(b))
            | (Literal::Duration(a), Literal::Duration(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

impl Expr {
    /// An expression without a place in the text (made by a pass).
    pub fn new(kind: ExprKind, ty: Ty) -> Self {
        Expr { kind, ty, origin: Origin::default() }
    }

    pub fn column(name: impl Into<String>, ty: Ty) -> Self {
        Expr::new(ExprKind::Column(name.into()), ty)
    }

    /// Calls `visit` on this node and on every node below it, parents first. Iterative: depth is no danger.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        let mut stack = vec![self];
        while let Some(expr) = stack.pop() {
            visit(expr);
            let from = stack.len();
            expr.for_each_child(&mut |child| stack.push(child));
            stack[from..].reverse();
        }
    }

    /// Calls `visit` on the direct operands, in order.
    pub fn for_each_child<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            ExprKind::Literal(_)
            | ExprKind::Column(_)
            | ExprKind::Param(_)
            | ExprKind::Env(_)
            | ExprKind::StageEnd(..)
            | ExprKind::Local(_)
            | ExprKind::Window(_)
            | ExprKind::Key(_)
            | ExprKind::Aggregate(_)
            | ExprKind::Error => {}
            ExprKind::Field(a, _) | ExprKind::Unary(_, a) | ExprKind::IsNull(a) | ExprKind::Cast(_, a) => visit(a),
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Coalesce(a, b) => {
                visit(a);
                visit(b);
            }
            ExprKind::In(a, list) => {
                visit(a);
                list.iter().for_each(visit);
            }
            ExprKind::If(a, b, c) => {
                visit(a);
                visit(b);
                visit(c);
            }
            ExprKind::Match { subject, arms, otherwise } => {
                visit(subject);
                for (patterns, result) in arms {
                    patterns.iter().for_each(&mut *visit);
                    visit(result);
                }
                visit(otherwise);
            }
            ExprKind::Call { args, .. } | ExprKind::CallUser { args, .. } | ExprKind::CallRust { args, .. } => {
                args.iter().for_each(visit);
            }
            ExprKind::Format(parts) | ExprKind::List(parts) => parts.iter().for_each(visit),
            ExprKind::Record(fields) => fields.iter().for_each(|(_, value)| visit(value)),
        }
    }

    /// Calls `visit` on the direct operands, in order, to change them.
    pub fn for_each_child_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match &mut self.kind {
            ExprKind::Literal(_)
            | ExprKind::Column(_)
            | ExprKind::Param(_)
            | ExprKind::Env(_)
            | ExprKind::StageEnd(..)
            | ExprKind::Local(_)
            | ExprKind::Window(_)
            | ExprKind::Key(_)
            | ExprKind::Aggregate(_)
            | ExprKind::Error => {}
            ExprKind::Field(a, _) | ExprKind::Unary(_, a) | ExprKind::IsNull(a) | ExprKind::Cast(_, a) => visit(a),
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Coalesce(a, b) => {
                visit(a);
                visit(b);
            }
            ExprKind::In(a, list) => {
                visit(a);
                list.iter_mut().for_each(visit);
            }
            ExprKind::If(a, b, c) => {
                visit(a);
                visit(b);
                visit(c);
            }
            ExprKind::Match { subject, arms, otherwise } => {
                visit(subject);
                for (patterns, result) in arms {
                    patterns.iter_mut().for_each(&mut *visit);
                    visit(result);
                }
                visit(otherwise);
            }
            ExprKind::Call { args, .. } | ExprKind::CallUser { args, .. } | ExprKind::CallRust { args, .. } => {
                args.iter_mut().for_each(visit);
            }
            ExprKind::Format(parts) | ExprKind::List(parts) => parts.iter_mut().for_each(visit),
            ExprKind::Record(fields) => fields.iter_mut().for_each(|(_, value)| visit(value)),
        }
    }
}
