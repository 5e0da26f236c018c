//! Words of the language that are offered, each with its form and what it does in a line.

/// A word of the language.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// As it is written; a few are two words.
    pub word: &'static str,
    /// How it is used.
    pub form: &'static str,
    pub doc: &'static str,
}

const fn word(word: &'static str, form: &'static str, doc: &'static str) -> Word {
    Word { word, form, doc }
}

/// Words that begin an item.
pub const ITEMS: &[Word] = &[
    word("job", "job name { parallelism: 2 }", "Settings of the whole job."),
    word(
        "use",
        "use \"other.flow\"",
        "All items of another file; `use rust \"file.rs\"` and `use crate name` for those in Rust.",
    ),
    word("param", "param since: timestamp = @2026-01-01", "A value given at the start, by a flag of the binary."),
    word("record", "record Order { id: int64, note: string? }", "A type of rows."),
    word("enum", "enum Status { open, shipped }", "A type of names."),
    word("fn", "fn euros(usd: decimal(10, 2)) = usd * 0.90d", "A function: one expression."),
    word("source", "source orders: Order from file { path: \"orders.csv\", format: csv }", "Where rows come from."),
    word(
        "lookup",
        "lookup rates: Rate from file { path: \"rates.csv\" } key (currency)",
        "An external table that `join` looks rows up in.",
    ),
    word("stream", "stream large = orders | where amount >= 100", "Rows under a name."),
    word("sink", "sink large into file { path: \"out\", format: json }", "Where rows go to."),
];

/// Words that begin an operator.
pub const STAGES: &[Word] = &[
    word("where", "where amount > 0", "Keeps the rows for which the condition is true. Behind `x is not null`, `x` is required."),
    word("select", "select { id, total: price * quantity, .. }", "One row for each: the columns named; `..` are all others."),
    word("explode", "explode items as item", "A row for each element of a list."),
    word("union", "union refunds, others", "The rows of several streams with the same columns."),
    word("watermark", "watermark placed_at - 5s", "Event time of the rows from here on, and how late they may come."),
    word("dedup", "dedup by id keep first within 1d", "One row of those with the same key."),
    word(
        "aggregate",
        "aggregate by customer over tumbling(1h) { customer, total: sum(amount) }",
        "A row for each group, and window.",
    ),
    word("top", "top 10 by price desc per auction", "The first rows in an order."),
    word("sort", "sort by placed_at", "Rows in the order of event time."),
    word("intersect", "intersect others", "Rows that all have; with `all` as often as they come."),
    word("except", "except others", "Rows that only the first has; with `all` as often as they come."),
    word("distinct", "distinct", "Each row once."),
    word(
        "join",
        "join payments as p on id == p.order_id within 10m",
        "Rows of two streams, or of a stream and a table, that belong together.",
    ),
    word(
        "left join",
        "left join payments as p on id == p.order_id",
        "A join that keeps rows of the left side without a partner.",
    ),
    word(
        "right join",
        "right join payments as p on id == p.order_id",
        "A join that keeps rows of the right side without a partner.",
    ),
    word("full join", "full join payments as p on id == p.order_id", "A join that keeps rows of both sides without a partner."),
    word("semi join", "semi join payments as p on id == p.order_id", "Rows of the left side that have a partner."),
    word("anti join", "anti join payments as p on id == p.order_id", "Rows of the left side that have no partner."),
    word("process", "process by country FraudScore { threshold: 0.9 }", "An operator in Rust, with state and timers."),
    word("final", "final", "The rows of a table when its input has ended."),
    word("changes", "changes", "A table as a stream of its changes."),
    word("rebalance", "rebalance", "Spreads rows evenly over all subtasks."),
    word("broadcast", "broadcast", "Sends every row to all subtasks."),
    word("partition", "partition by customer", "Sends rows with the same key to the same subtask."),
];

/// Windows behind `over`.
pub const WINDOWS: &[Word] = &[
    word("tumbling", "tumbling(1h)", "Windows of one length, one behind the other."),
    word("sliding", "sliding(1h, 10m)", "Windows of one length, one begins every step."),
    word("session", "session(30m)", "A window ends when no row has come for so long."),
    word("cumulative", "cumulative(1d, 1h)", "Windows that grow by a step until they are full."),
    word("calendar", "calendar(day, zone: \"Europe/Berlin\")", "Days, weeks, months, .. of a time zone."),
    word("count", "count(100)", "A window is so many rows of a group."),
    word("global", "global", "One window, which ends with the input."),
];

/// What stands in `job name { .. }`.
pub const SETTINGS: &[Word] = &[
    word("parallelism", "parallelism: 2", "How many subtasks each operator has."),
    word("max_parallelism", "max_parallelism: 128", "The most that the job can be scaled to: its key groups."),
    word("checkpoint", "checkpoint: every 10s to \"checkpoints\"", "How often a checkpoint is taken, and where it is stored."),
    word("buffer_timeout", "buffer_timeout: 100ms", "How long a batch may wait to become full; 0: every row goes at once."),
    word("restart", "restart: fixed(3, 10s)", "What happens after a failure: `none`, `fixed`, `failure_rate`, `exponential`."),
    word(
        "on error",
        "on error: skip",
        "What happens to rows for which an expression has no value: `fail`, `skip`, or `into` a stream.",
    ),
    word("state", "state: disk { path: \"./state\" }", "Where keyed state lies: in `memory`, or on `disk` where it is larger."),
    word("ttl", "ttl: 30d", "After what time state of a key that is not used is forgotten."),
];

/// Attributes of items and operators.
pub const ATTRIBUTES: &[Word] = &[
    word("id", "@id(\"totals\")", "A stable name for the state."),
    word("parallelism", "@parallelism(4)", "How many subtasks this one has."),
    word("slot_group", "@slot_group(\"io\")", "Runs in slots of its own."),
    word("no_chain", "@no_chain", "Is not fused with its neighbours."),
    word("ttl", "@ttl(1d)", "After what time its state of a key is forgotten; `never`: not at all."),
];

/// Attributes of a record's columns.
pub const COLUMN_ATTRIBUTES: &[Word] = &[
    word("name", "@name(\"order-id\")", "The column's name in the outside data."),
    word("unit", "@unit(\"ms\")", "What a number in the outside data means for a timestamp: `s`, `ms`, `us`, `ns`."),
];

/// Clauses of a source.
pub const SOURCE_CLAUSES: &[Word] = &[
    word("watermark", "watermark placed_at - 5s", "The column of event time, and how late rows may come."),
    word("idle after", "idle after 30s", "A split without rows for so long does not hold event time back."),
    word("align", "align shop within 1m", "Keeps sources of a group together in event time."),
    word("on error", "on error skip", "What happens to records that cannot be read: `fail`, `skip`, or `into` a stream."),
];

/// Clauses of a lookup.
pub const LOOKUP_CLAUSES: &[Word] = &[
    word("key", "key (currency)", "The columns by which rows are looked up."),
    word("cache", "cache 10m up to 50_000 rows", "How long answers are kept, and how many."),
    word("unordered", "unordered", "Rows go on as answers come."),
];

/// Behind a sink's connector.
pub const SINK_CLAUSES: &[Word] = &[word("key", "key (id)", "The columns by which the sink finds rows of a table.")];

/// Words between and before operands of an expression.
pub const OPERATORS: &[&str] =
    &["and", "or", "is null", "is not null", "in", "not in", "between", "like", "not like", "matches", "not matches"];

/// Words that begin an expression.
pub const OPERANDS: &[Word] = &[
    word("if", "if late then 1 else 0", "One of two values."),
    word("match", "match status { \"open\" => 1, _ => 0 }", "The value of the first arm that fits."),
    word("not", "not late", "True where the condition is false."),
    word("true", "true", ""),
    word("false", "false", ""),
    word("null", "null", "No value."),
    word("cast", "cast(x, int64)", "The value as another type; what does not fit is an error."),
    word("try_cast", "try_cast(x, int64)", "The value as another type; what does not fit is null."),
];

/// Words that go on with an operator, by its first word.
pub fn clauses(stage: &str) -> &'static [&'static str] {
    match stage {
        "aggregate" => &["by", "over", "allow", "late into", "every"],
        "top" => &["by", "per", "over", "with ties", "with rank as", "asc", "desc", "late into"],
        "sort" => &["by", "asc", "desc", "late into"],
        "dedup" => &["by", "keep first", "keep last", "within", "late into"],
        "explode" => &["as"],
        "join" => &["as", "on", "within", "over", "as of", "allow", "broadcast", "late into"],
        "process" => &["by", "with", "side into"],
        "partition" => &["by"],
        _ => &[],
    }
}

/// The word of a list.
pub fn find(words: &'static [Word], word: &str) -> Option<&'static Word> {
    words.iter().find(|known| known.word == word)
}
