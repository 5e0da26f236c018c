//! Expressions and types as written.

use super::Name;
use crate::source::Span;

/// An expression and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Null,
    Bool(bool),
    /// `1_000`, `0xff`, without sign.
    Int(u128),
    /// `1.5`, `1e9`
    Float(f64),
    /// `1.50d`: the unscaled value and the scale.
    Decimal {
        unscaled: i128,
        scale: u8,
    },
    /// Escapes resolved.
    String(String),
    /// `f"{carrier}-{day}"`
    Format(Vec<FormatPart>),
    /// `1h30m`, in microseconds.
    Duration(i64),
    /// `@2026-01-01T00:00:00Z`, in microseconds since the epoch.
    Timestamp(i64),
    /// `@2026-01-01`: days since 1970-01-01; a timestamp at midnight UTC where one is expected.
    Date(i32),
    /// `64MB`, in bytes.
    Size(u64),
    /// A column, a param, a local: whatever the name means here.
    Name(String),
    /// `$NAME`
    Env(String),
    /// `base.field`; `safe` for `base?.field`.
    Field {
        base: Box<Expr>,
        field: Name,
        safe: bool,
    },
    /// `base.method(args)`: what is known of an earlier stage.
    Method {
        base: Box<Expr>,
        method: Name,
        args: Vec<Expr>,
    },
    /// `base[index]`
    Index {
        base: Box<Expr>,
        index: Box<Expr>,
    },
    Unary {
        op: UnaryOp,
        operand: Box<Expr>,
    },
    Binary {
        op: BinaryOp,
        op_span: Span,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `x is null`, `x is not null`
    IsNull {
        operand: Box<Expr>,
        negated: bool,
    },
    /// `x in [a, b]`, `x not in xs`
    In {
        operand: Box<Expr>,
        list: Box<Expr>,
        negated: bool,
    },
    /// `x between low and high`, both ends included.
    Between {
        operand: Box<Expr>,
        low: Box<Expr>,
        high: Box<Expr>,
        negated: bool,
    },
    /// `if c then a else b`
    If {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    /// `match x { "a" => 1, "b" | "c" => 2, 10..20 if late => 3, _ => 0 }`
    Match {
        subject: Box<Expr>,
        arms: Vec<MatchArm>,
    },
    /// `name(args)`, an aggregate included: `count(distinct bidder where price < 10_000)`, `cast(x, int64)`, `tumbling(1d)`.
    Call(Call),
    /// `avg(price) over (by seller, order by closed_at, last 10 rows)`
    Over(Box<OverExpr>),
    /// `[1, 2]`
    List(Vec<Expr>),
    /// `{ a: 1, b }`
    Record(Vec<(Name, Expr)>),
    Error,
}

/// A call over the rows before this one.
#[derive(Clone, Debug, PartialEq)]
pub struct OverExpr {
    pub call: Call,
    /// The call's place.
    pub call_span: Span,
    pub by: Vec<Expr>,
    pub order: Option<Expr>,
    pub last: Option<Last>,
    /// From `over` to the closing parenthesis.
    pub over_span: Span,
}

/// `last 10 rows`, `last 1h`
#[derive(Clone, Debug, PartialEq)]
pub struct Last {
    pub length: Expr,
    pub rows: bool,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FormatPart {
    Text(String),
    Value(Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub struct MatchArm {
    /// Empty: `_`.
    pub patterns: Vec<MatchPattern>,
    /// `if late`: what must hold besides.
    pub guard: Option<Expr>,
    pub result: Expr,
    pub span: Span,
}

/// What a value is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum MatchPattern {
    Value(Expr),
    Range(MatchRange),
}

/// `1..10`, `1..=10`, `1..`, `..10`
#[derive(Clone, Debug, PartialEq)]
pub struct MatchRange {
    pub from: Option<Expr>,
    pub to: Option<Expr>,
    /// The upper end belongs to it.
    pub inclusive: bool,
    pub span: Span,
}

impl MatchArm {
    /// Whether it is more than a list of values.
    pub fn has_conditions(&self) -> bool {
        self.guard.is_some() || self.patterns.iter().any(|pattern| matches!(pattern, MatchPattern::Range(_)))
    }
}

impl MatchPattern {
    /// The expressions in it.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let (first, second) = match self {
            MatchPattern::Value(value) => (Some(value), None),
            MatchPattern::Range(range) => (range.from.as_ref(), range.to.as_ref()),
        };
        first.into_iter().chain(second)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub function: Name,
    /// `distinct` before the arguments.
    pub distinct: Option<Span>,
    pub args: Vec<Argument>,
    /// `where` behind the arguments.
    pub filter: Option<Box<Expr>>,
}

/// A positional or named (`offset: 1h`) argument; a type only in `cast(x, int64)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    pub name: Option<Name>,
    pub value: ArgumentValue,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentValue {
    Expr(Expr),
    Type(Type),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Not,
    Negate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Like,
    NotLike,
    Matches,
    NotMatches,
    /// `??`
    Coalesce,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    pub kind: TypeKind,
    /// `?` behind it.
    pub optional: bool,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// A scalar type or a record by name, with the numbers of `decimal(p, s)`.
    Named {
        name: Name,
        numbers: Vec<u32>,
    },
    List(Box<Type>),
    Map(Box<Type>, Box<Type>),
    /// `{ a: int64, b: string }`
    Record(Vec<Column>),
    Error,
}

/// `name: type`, of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub attributes: Vec<super::Attribute>,
    pub doc: Option<String>,
    pub name: Name,
    pub ty: Type,
    pub span: Span,
}
