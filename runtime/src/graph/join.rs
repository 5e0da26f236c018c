//! What a join does: which rows go together, what bounds it in time, and which rows come out.

use super::expr::{Expr, WindowBound};
use super::operation::{ConnectorOption, Emit, Window};
use super::ty::Schema;

/// `left join payments as p on id == p.order_id and amount > p.fee within 10m`
#[derive(Clone, Debug, PartialEq)]
pub struct JoinOperation {
    pub kind: JoinKind,
    pub how: JoinHow,
    /// What must be equal, pair by pair of the same type: each is optional on both sides or on neither. Null equals nothing.
    pub keys: Vec<JoinKey>,
    /// What must hold besides, over `columns`.
    pub condition: Option<Expr>,
    /// The columns of both sides by the names that the condition and the output have for them.
    pub columns: Vec<JoinColumn>,
    /// Whether the result is a table: its rows can be taken back.
    pub emit: Emit,
    /// Every subtask gets all rows of the right input; those of the left one come to any.
    pub broadcast: bool,
}

impl JoinOperation {
    /// The event times of both sides, where the join looks at them.
    pub fn times(&self) -> Option<&JoinTimes> {
        match &self.how {
            JoinHow::Unbounded | JoinHow::Lookup(_) => None,
            JoinHow::Within { times, .. } | JoinHow::Over { times, .. } | JoinHow::AsOf { times } => Some(times),
        }
    }

    /// The external table, where rows are looked up in one.
    pub fn lookup(&self) -> Option<&Lookup> {
        match &self.how {
            JoinHow::Lookup(lookup) => Some(lookup),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn times_mut(&mut self) -> Option<&mut JoinTimes> {
        match &mut self.how {
            JoinHow::Unbounded | JoinHow::Lookup(_) => None,
            JoinHow::Within { times, .. } | JoinHow::Over { times, .. } | JoinHow::AsOf { times } => Some(times),
        }
    }
}

/// One equality of a join.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinKey {
    /// Over the rows of the left input.
    pub left: Expr,
    /// Over the rows of the right input.
    pub right: Expr,
}

/// A column of one side of a join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinColumn {
    /// What it is called in the condition and in the output.
    pub name: String,
    pub of: JoinColumnOf,
}

/// Where a column of a join comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JoinColumnOf {
    /// The column of this name on this side.
    Side(Side, String),
    /// A bound of the window that holds both rows.
    Window(WindowBound),
}

/// One of the two inputs of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Input 0: what stands before `join`.
    Left,
    /// Input 1: what is joined.
    Right,
}

impl Side {
    /// The number of the input.
    pub fn input(self) -> usize {
        match self {
            Side::Left => 0,
            Side::Right => 1,
        }
    }
}

/// Which rows a join gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// Pairs.
    Inner,
    /// Pairs, and left rows without a partner beside nulls.
    Left,
    /// Pairs, and right rows without a partner beside nulls.
    Right,
    /// Pairs, and rows of both sides without a partner beside nulls.
    Full,
    /// Left rows that have a partner, once.
    Semi,
    /// Left rows that have none.
    Anti,
}

impl JoinKind {
    /// Whether rows of this side come out by themselves when they have no partner.
    pub fn keeps(self, side: Side) -> bool {
        match side {
            Side::Left => matches!(self, JoinKind::Left | JoinKind::Full | JoinKind::Anti),
            Side::Right => matches!(self, JoinKind::Right | JoinKind::Full),
        }
    }

    /// Whether rows come out in pairs: the output has the columns of both sides.
    pub fn pairs(self) -> bool {
        !matches!(self, JoinKind::Semi | JoinKind::Anti)
    }

    /// As it is written: `left join`.
    pub fn words(self) -> &'static str {
        match self {
            JoinKind::Inner => "join",
            JoinKind::Left => "left join",
            JoinKind::Right => "right join",
            JoinKind::Full => "full join",
            JoinKind::Semi => "semi join",
            JoinKind::Anti => "anti join",
        }
    }
}

/// What bounds a join in time.
#[derive(Clone, Debug, PartialEq)]
pub enum JoinHow {
    /// Nothing: all rows of both sides are kept.
    Unbounded,
    /// `within 10m`: right time - left time lies between the two, both included. Microseconds.
    Within { from: i64, to: i64, times: JoinTimes },
    /// `over tumbling(1m)`: both rows in one window.
    Over { window: Window, times: JoinTimes, allowed_lateness: i64 },
    /// `as of placed_at`: the right row of the key that was the newest at the left row's time.
    AsOf { times: JoinTimes },
    /// Input 0 alone: its rows are looked up in an external table as they come.
    Lookup(Box<Lookup>),
}

/// `lookup rates: Rate from http { .. } key (currency) cache 10m`, as one join asks it.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    /// The name of the item.
    pub name: String,
    /// See `connectors::find`.
    pub connector: String,
    pub options: Vec<ConnectorOption>,
    pub format: Option<String>,
    pub format_options: Vec<ConnectorOption>,
    /// Its rows: the right side of the join.
    pub schema: Schema,
    /// The columns that it is asked by, in the order of the join's `keys`.
    pub key: Vec<String>,
    /// The left sides of the join's `keys` as texts, where it is asked key by key.
    pub texts: Vec<Expr>,
    /// How old an answer (or the whole table) may be, in microseconds.
    pub cache: Option<i64>,
    /// How many answers are kept.
    pub cache_limit: u64,
    /// Whether rows come out in the order in which they came in.
    pub ordered: bool,
}

/// The event times of the rows of both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinTimes {
    /// Over the rows of the left input.
    pub left: Expr,
    /// Over the rows of the right input.
    pub right: Expr,
    /// `late into x`: late rows of the left side go to this output port.
    pub late_output: bool,
}
