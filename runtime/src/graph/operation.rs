//! The logical operators of a job: what one vertex of the `JobGraph` does.

use super::expr::{Expr, Origin};
use super::join::{JoinHow, JoinOperation};
use super::rust::{CallAsyncOperation, ProcessOperation};
use super::ty::Schema;

/// What a vertex does.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    Source(SourceOperation),
    /// Keeps the rows for which the condition is true (not false, not null).
    Filter(Expr),
    /// One output row per input row: (column, value) in order.
    Project(Vec<(String, Expr)>),
    /// One output row per element of a list: all input columns, then the element as `name`.
    Explode {
        list: Expr,
        name: String,
    },
    /// A call of an `async fn` in a Rust file of the user: all input columns, then the answer.
    CallAsync(CallAsyncOperation),
    /// All rows of all inputs, which have the same columns.
    Union,
    /// `on error: into x` of the job: what operators could not compute, from the output `Error` of each. Without inputs
    /// until planning has been through with all operators.
    Errors,
    /// Assigns event time anew.
    Watermark(WatermarkOperation),
    Dedup(DedupOperation),
    Aggregate(AggregateOperation),
    Top(TopOperation),
    /// All rows in the order of time, once the watermark has reached them.
    Sort(SortOperation),
    /// Rows of one or two sides as sets.
    Combine(CombineOperation),
    /// A stream as a table to which rows are only added.
    Inserts,
    /// A table under another key: of the rows that stand for a key, the last to come.
    KeyBy(Vec<String>),
    /// Each row with what the rows of its key up to it make.
    Over(OverOperation),
    /// Rows of input 0 (left) with rows of input 1 (right).
    Join(JoinOperation),
    /// `process by country FraudScore { threshold: 0.9 }`: an operator in a Rust file of the user.
    Process(ProcessOperation),
    /// A table's rows as they stand when the inputs have ended.
    Final,
    /// A table as a stream of its changes: the row's columns behind `op: string` (`insert`, `update_before`, `update_after`, `delete`).
    Changes,
    /// Physical hints.
    Rebalance,
    Broadcast,
    PartitionBy(Vec<Expr>),
    Sink(SinkOperation),
}

impl Operation {
    /// Whether it keeps what it keeps until it is told to forget it (`ttl`).
    pub fn keeps_keys(&self) -> bool {
        match self {
            Operation::Aggregate(aggregate) => aggregate.window.is_none(),
            Operation::Top(top) => top.window.is_none(),
            Operation::Join(join) => join.how == JoinHow::Unbounded,
            // What is older than the frame is forgotten by itself.
            Operation::Over(over) => !matches!(over.frame, Frame::Time(_)),
            Operation::Process(process) => !process.stateless,
            Operation::Dedup(_) | Operation::Combine(_) => true,
            _ => false,
        }
    }
}

/// An option of a connector or of a format, as the text gives it: `path: "data/*.csv"`, `format: csv { null: "NA" }`.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectorOption {
    pub name: String,
    pub value: OptionValue,
    pub origin: Origin,
}

/// The value of a connector's option.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// Made of literals, params and environment variables: known when the job starts.
    Value(Expr),
    /// A bare word: `format: json`, `start: earliest`.
    Word(String),
    /// A word with options of its own: `csv { null: "NA" }`.
    Block(String, Vec<ConnectorOption>),
    /// Columns of the stream: `partition: [dt, hm]`.
    Columns(Vec<String>),
    /// A byte size: `64MB`.
    Size(u64),
}

/// `source x: Record from connector { .. } watermark .. on error ..`
#[derive(Clone, Debug, PartialEq)]
pub struct SourceOperation {
    /// `file`, `generator`, ...: see `connectors::find`.
    pub connector: String,
    pub options: Vec<ConnectorOption>,
    /// The name of the format (`json`, `csv`, `text`), where the connector has one.
    pub format: Option<String>,
    pub format_options: Vec<ConnectorOption>,
    /// The time column that its options `since` and `until` compare.
    pub range: Option<String>,
    /// Of a hybrid source, whose own options are none; else empty.
    pub stages: Vec<SourceStage>,
    pub watermark: Option<WatermarkOperation>,
    /// A split without rows for so many microseconds holds nothing back.
    pub idle_after: Option<i64>,
    pub align: Option<Alignment>,
    /// With [`ErrorPolicy::Into`]: what cannot be decoded leaves by the output `Error`.
    pub on_error: ErrorPolicy,
}

impl SourceOperation {
    /// A source of which no more is said.
    pub fn new(connector: impl Into<String>, options: Vec<ConnectorOption>) -> Self {
        SourceOperation {
            connector: connector.into(),
            options,
            format: None,
            format_options: Vec::new(),
            range: None,
            stages: Vec::new(),
            watermark: None,
            idle_after: None,
            align: None,
            on_error: ErrorPolicy::Fail,
        }
    }
}

/// One stage of a hybrid source: `history = file { .. }`
#[derive(Clone, Debug, PartialEq)]
pub struct SourceStage {
    pub name: String,
    pub connector: String,
    /// May ask how earlier stages ended: see `ExprKind::StageEnd`.
    pub options: Vec<ConnectorOption>,
    pub format: Option<String>,
    pub format_options: Vec<ConnectorOption>,
    /// The time column that its options `since` and `until` compare.
    pub range: Option<String>,
    pub origin: Origin,
}

/// `align shop within 1m every 100ms`: sources of one group keep together in event time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// The name of the group.
    pub group: String,
    /// How far it may be ahead of the slowest, in microseconds.
    pub within: i64,
    /// How often that is looked at, in microseconds; None: as the engine likes.
    pub every: Option<i64>,
}

/// Event time of a stream: the column that holds it, and the watermark that a row allows.
#[derive(Clone, Debug, PartialEq)]
pub struct WatermarkOperation {
    /// The time column.
    pub column: String,
    /// The event time of a row that allows this watermark: `time_hour - 1h`. The running maximum, less one microsecond, is the watermark.
    pub watermark: Expr,
}

/// What happens to a record that cannot be decoded or computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorPolicy {
    /// The job stops with an error that names the record.
    Fail,
    /// The record is left out and counted.
    Skip,
    /// The record goes to a stream of its own, with the error: the output [`Port::Error`](super::job::Port::Error).
    Into,
}

/// `dedup by (..) keep first|last [within d]`
#[derive(Clone, Debug, PartialEq)]
pub struct DedupOperation {
    pub keys: Vec<Expr>,
    pub keep: Keep,
    /// By this time column where there is one, else by arrival. Equal times: for `last` the later arrival, for `first` the earlier.
    pub time: Option<Expr>,
    /// Forget a key after this many microseconds of event time.
    pub within: Option<i64>,
    /// `late into x`: rows that may repeat what is forgotten go to this output port.
    pub late_output: bool,
    /// What downstream sees of the table that `keep last` (or out-of-order `keep first`) makes.
    pub emit: Emit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    First,
    Last,
}

/// How a table-making operator hands its table on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// Rows that are never taken back.
    Append,
    /// Every change, as it happens.
    Changes,
    /// Every change but the old rows of updates (an optimisation where those who read find rows by the key).
    Upserts,
    /// Only the rows that stand at the end of the input (an optimisation of a following `Final`).
    Final,
}

impl Emit {
    /// Whether a table goes on.
    pub fn is_table(self) -> bool {
        matches!(self, Emit::Changes | Emit::Upserts)
    }
}

/// `aggregate by keys over window { columns }`
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateOperation {
    /// Group keys: computed from the input row. May be empty.
    pub keys: Vec<(String, Expr)>,
    pub window: Option<Window>,
    pub calls: Vec<AggregateCall>,
    /// Output columns over `Key`, `Aggregate`, `Window`, literals, params.
    pub output: Vec<(String, Expr)>,
    /// Microseconds that a window stays open after its end for late rows.
    pub allowed_lateness: i64,
    /// `every 10s`: early results, whenever so many microseconds have passed; makes a table.
    pub every: Option<i64>,
    /// `late into x`: late rows go to this output port (see `JobEdge::port`), not to the counter.
    pub late_output: bool,
    pub emit: Emit,
}

/// `top n by order per keys over window`
#[derive(Clone, Debug, PartialEq)]
pub struct TopOperation {
    pub count: u64,
    /// What comes first. Of equal rows the one that came earlier.
    pub order: Vec<SortKey>,
    /// Of equal rows the one that came later.
    pub latest_first: bool,
    /// `per`: one ranking for each.
    pub keys: Vec<Expr>,
    pub window: Option<Window>,
    /// `with ties`: also the rows that are equal to the last.
    pub ties: bool,
    /// `with rank as r`: a column of that name, from 1.
    pub rank: Option<String>,
    /// `late into x`: as of an aggregate.
    pub late_output: bool,
    pub emit: Emit,
}

/// One key of an order. Null comes first, or last where descending.
#[derive(Clone, Debug, PartialEq)]
pub struct SortKey {
    pub value: Expr,
    pub descending: bool,
}

/// `sort by time, ..`
#[derive(Clone, Debug, PartialEq)]
pub struct SortOperation {
    /// Event time. None: all rows come when the input has ended, and the order is free.
    pub time: Option<Expr>,
    /// The order of rows of equal time.
    pub order: Vec<SortKey>,
    /// `late into x`: as of an aggregate.
    pub late_output: bool,
}

/// Rows of two streams (or tables) as sets.
#[derive(Clone, Debug, PartialEq)]
pub struct CombineOperation {
    pub how: Combine,
    /// All columns but that with the side.
    pub keys: Vec<Expr>,
    /// Equal rows count as often as they come.
    pub all: bool,
    /// The column that says whether a row belongs to the second side; None: there is only one.
    pub side: Option<String>,
}

/// Which rows stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// Those of the one side, once.
    Distinct,
    /// Those that both sides have.
    Intersect,
    /// Those that the first side has and the second has not.
    Except,
}

/// One aggregate call: `count(distinct bidder where price < 10_000)`.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateCall {
    /// See `aggregates::find`.
    pub function: &'static str,
    pub args: Vec<Expr>,
    pub distinct: bool,
    /// `where`: rows for which it is not true do not count.
    pub filter: Option<Expr>,
    pub ty: super::ty::Ty,
    /// The name that what it has added up has in the state of its operator ([`JobGraph::name_accumulators`]).
    ///
    /// [`JobGraph::name_accumulators`]: super::JobGraph::name_accumulators
    pub state: String,
    pub origin: Origin,
}

/// `avg(price) over (by seller, last 10 rows)`: all input columns, then one column per call.
#[derive(Clone, Debug, PartialEq)]
pub struct OverOperation {
    /// What rows are looked at together. May be empty.
    pub keys: Vec<Expr>,
    /// The event time of a row: the order.
    pub time: Expr,
    pub frame: Frame,
    /// The new columns.
    pub calls: Vec<(String, AnalyticCall)>,
}

/// One call before `over (..)`.
#[derive(Clone, Debug, PartialEq)]
pub struct AnalyticCall {
    /// An aggregate, or a function of `aggregates::ANALYTIC`.
    pub call: AggregateCall,
    /// `lag(x, 2)`: so many rows back.
    pub back: u64,
}

/// The rows that a call with `over (..)` looks at, beside the row itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// All rows up to this one, one by one: `row_number`, `lag`.
    Running,
    /// All rows up to this one, and those of the same time.
    All,
    /// So many rows, this one included.
    Rows(u64),
    /// The rows that are at most so many microseconds older, and those of the same time.
    Time(i64),
    /// The row so many rows behind this one: `lead`.
    Ahead(u64),
}

/// A window of an aggregate. All sizes in microseconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Window {
    Tumbling {
        size: i64,
        offset: i64,
        time: WindowTime,
    },
    Sliding {
        size: i64,
        step: i64,
        offset: i64,
        time: WindowTime,
    },
    Session {
        gap: i64,
        time: WindowTime,
    },
    /// Windows that start every `max` and grow by `step`.
    Cumulative {
        max: i64,
        step: i64,
        offset: i64,
        time: WindowTime,
    },
    /// Units of the calendar, as clocks in a time zone show them.
    Calendar {
        unit: CalendarUnit,
        /// A name of the tz database.
        zone: String,
        time: WindowTime,
    },
    /// Every `size` rows of a key; an incomplete rest is emitted at the end of bounded input.
    Count {
        size: u64,
    },
    /// Every `step` rows of a key, over its last `size` rows.
    SlidingCount {
        size: u64,
        step: u64,
    },
    /// One window, which ends with the input.
    Global,
}

/// How long a window of the calendar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CalendarUnit {
    Day,
    /// From Monday.
    Week,
    Month,
    Quarter,
    Year,
}

impl CalendarUnit {
    /// All of them, the shortest first.
    pub const ALL: [CalendarUnit; 5] =
        [CalendarUnit::Day, CalendarUnit::Week, CalendarUnit::Month, CalendarUnit::Quarter, CalendarUnit::Year];

    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            CalendarUnit::Day => "day",
            CalendarUnit::Week => "week",
            CalendarUnit::Month => "month",
            CalendarUnit::Quarter => "quarter",
            CalendarUnit::Year => "year",
        }
    }
}

/// What places a row in a window.
#[derive(Clone, Debug, PartialEq)]
pub enum WindowTime {
    /// The row's event time.
    Event(Expr),
    /// The clock when the row arrives. Open windows fire at the end of bounded input.
    Processing,
}

/// `sink stream into connector { .. }`
#[derive(Clone, Debug, PartialEq)]
pub struct SinkOperation {
    pub connector: String,
    /// `key (..)`: columns that rows are told apart by.
    pub key: Vec<String>,
    pub options: Vec<ConnectorOption>,
    pub format: Option<String>,
    pub format_options: Vec<ConnectorOption>,
}

/// Whether a stream only ever gains rows, or is a table whose rows change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changelog {
    /// Rows are never taken back. Edges carry plain rows.
    Append,
    /// Inserts, updates and deletes; edges carry `Change<Row>`. The key columns, where they are known.
    Table { key: Option<Vec<String>> },
}

/// What is known of the rows on an edge.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamType {
    pub schema: Schema,
    pub changelog: Changelog,
    /// Event time, where the stream has it.
    pub time: Option<TimeColumn>,
}

/// The column that carries event time: time = column + offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeColumn {
    pub column: String,
    /// Microseconds. After a window the time of a row is its window's end less one microsecond, so that the row falls
    /// into the same window again downstream; a selected `window.start` carries size - 1, `window.end` carries -1.
    pub offset: i64,
}
