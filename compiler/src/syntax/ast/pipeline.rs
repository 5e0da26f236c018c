//! Pipelines: a stream's name, then operators.

use super::{Attribute, ConnectorOption, Expr, Join, Name};
use crate::source::Span;

/// `flights | where .. | select ..`
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    pub input: Name,
    /// `orders as o`
    pub alias: Option<Name>,
    pub stages: Vec<Stage>,
    pub span: Span,
}

/// One operator with its attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    pub kind: StageKind,
    pub attributes: Vec<Attribute>,
    /// From the operator's word to its end.
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StageKind {
    /// `where amount > 0`
    Where(Expr),
    /// `select { id, total: price * qty, .., except note }`
    Select(Vec<SelectItem>),
    /// `explode split_words(line) as word`
    Explode {
        list: Expr,
        name: Name,
    },
    /// `union refunds, others`
    Union(Vec<Name>),
    /// `watermark placed_at - 5s`
    Watermark(Expr),
    /// `dedup by (auction, bidder) keep last within 1d`; `keep` defaults to first.
    Dedup {
        by: Vec<Expr>,
        keep: Option<(Keep, Span)>,
        within: Option<Expr>,
        late_into: Option<Name>,
    },
    /// `aggregate by a over tumbling(1h) allow 30s late late into x { .. }`
    Aggregate(Aggregate),
    /// `top 10 by price desc per auction`
    Top(Top),
    /// `sort by placed_at, id desc`
    Sort(Sort),
    /// `intersect others`, `except all others`
    Combine {
        how: Combine,
        /// The word `all`: rows count as often as they come.
        all: Option<Span>,
        others: Vec<Name>,
    },
    Distinct,
    /// `join payments as p on id == p.order_id within 10m`
    Join(Join),
    /// `process by country FraudScore { threshold: 0.9 } with blocks by country side into x`
    Process(Process),
    Final,
    Changes,
    Rebalance,
    Broadcast,
    PartitionBy(Vec<Expr>),
    /// A known operator of a later edition of the language (`process`, ..), or an unknown word; reported.
    Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    First,
    Last,
}

/// `top 10 by price desc per auction over tumbling(1m) with ties with rank as r`
#[derive(Clone, Debug, PartialEq)]
pub struct Top {
    pub count: Expr,
    pub by: Vec<OrderKey>,
    pub per: Vec<Expr>,
    pub over: Option<Over>,
    pub ties: Option<Span>,
    pub rank: Option<Name>,
    pub late_into: Option<Name>,
}

/// `sort by placed_at, amount desc late into x`
#[derive(Clone, Debug, PartialEq)]
pub struct Sort {
    pub by: Vec<OrderKey>,
    pub late_into: Option<Name>,
}

/// `process by country FraudScore { threshold: 0.9 } side into x`, `.. side Calm into calm side Odd into odd`
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    pub by: Vec<Expr>,
    /// The operator, as its Rust file calls it.
    pub name: Name,
    pub options: Vec<ConnectorOption>,
    /// Further inputs, in order.
    pub with: Vec<WithInput>,
    /// What goes out beside its rows.
    pub sides: Vec<SideInto>,
}

/// `side into x`, `side Calm into calm`
#[derive(Clone, Debug, PartialEq)]
pub struct SideInto {
    /// Which of several side outputs, as the Rust file calls it.
    pub output: Option<Name>,
    /// The stream.
    pub into: Name,
    pub span: Span,
}

/// `with blocks by country`, `with broadcast rules`
#[derive(Clone, Debug, PartialEq)]
pub struct WithInput {
    pub stream: Name,
    pub by: Vec<Expr>,
    /// Its rows come to every subtask.
    pub broadcast: bool,
    pub span: Span,
}

/// `price desc`
#[derive(Clone, Debug, PartialEq)]
pub struct OrderKey {
    pub value: Expr,
    pub descending: bool,
}

/// How rows of several streams are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// Those that all have.
    Intersect,
    /// Those that only the first has.
    Except,
}

/// One entry of `select { .. }` and of an aggregate's block.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectItem {
    /// `total: price * qty`, or `id` alone (also `bid.price`, which is called `price`).
    Column {
        name: Option<Name>,
        value: Expr,
    },
    /// `..` or `bid..` (all fields of a record column): all columns not named otherwise.
    Rest {
        of: Option<Expr>,
        span: Span,
    },
    /// `except note, other`: not these; only with `..`.
    Except(Vec<Name>),
    Error(Span),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// `by carrier`, `by (a, b)`, `by (day: date(placed_at))`
    pub by: Vec<(Option<Name>, Expr)>,
    /// `over tumbling(1d, offset: 1h)`; the call's name is the window's kind, `global` may stand without parentheses,
    /// `processing_time` behind the arguments is [`Over::processing_time`].
    pub over: Option<Over>,
    /// `allow 30s late`
    pub allow_late: Option<Expr>,
    /// `every 10s`
    pub every: Option<Expr>,
    /// `late into late_orders`
    pub late_into: Option<Name>,
    pub columns: Vec<SelectItem>,
    pub block_span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Over {
    pub window: super::Call,
    pub processing_time: Option<Span>,
    pub span: Span,
}
