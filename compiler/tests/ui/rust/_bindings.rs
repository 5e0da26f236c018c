use millstream::prelude::*;

/// Where rows come from, right and wrong.
#[derive(Clone, Record, Source)]
#[source(name = orders, from = file { path: "orders.jsonl" }, watermark = at - 5s, idle_after = 1m, on_error = skip)]
pub struct Order {
    pub id: i64,
    pub at: Timestamp,
}

#[derive(Clone, Record, Sink)]
#[sink(of = totals, into = file { path: "out", format: json })]
pub struct Total {
    pub id: i64,
    pub total: i64,
}

#[derive(Clone, Record, Sink)]
#[sink(of = nowhere, into = file { path: "out", format: json })]
pub struct Unused {
    pub id: i64,
}

#[derive(Clone, Record, Source)]
#[source(name = slips, from = file { pat: "orders.jsonl" })]
pub struct Slip {
    pub id: i64,
}

#[derive(Clone, Record, Source)]
#[source(name = late, from = file { path: "orders.jsonl" }, watermark = att - 5s)]
pub struct Late {
    pub at: Timestamp,
}

#[derive(Clone, Record, Source)]
#[source(name = nothing)]
pub struct Nothing {
    pub id: i64,
}

#[derive(Clone, Record, Source)]
#[source(name = early, on_error = skip, from = file { path: "orders.jsonl" })]
pub struct Early {
    pub id: i64,
}

#[derive(Clone, Source)]
#[source(name = plain, from = file { path: "orders.jsonl" })]
pub struct Plain {
    pub id: i64,
}

#[derive(Clone, Record, Sink)]
#[sink(of = wrong, into = stdout)]
pub struct Wrong {
    pub id: String,
}

#[derive(Clone, Record, Source)]
#[source(name = orders, from = file { path: "again.jsonl" })]
pub struct Again {
    pub id: i64,
}

#[derive(Clone, Record, Sink)]
#[sink(of = counted, into = file { path: "out", format: json })]
pub struct Counted {
    pub id: i64,
}

#[derive(Clone, Record, Sink)]
#[sink(of = total, into = file { path: "out", format: json })]
pub struct Slipped {
    pub id: i64,
}

#[derive(Clone, Record, Source)]
#[source(name = "quoted", from = file { path: "orders.jsonl" })]
pub struct Quoted {
    pub id: i64,
}

#[derive(Clone, Record, Source)]
#[source(name, from = file { path: "orders.jsonl" })]
pub struct Empty {
    pub id: i64,
}

/// Under a key.
#[derive(Clone, Record, Sink)]
#[sink(of = per_id, into = upserts { url: "x" }, key = (id))]
pub struct PerId {
    pub id: i64,
    pub n: i64,
}

#[derive(Clone, Record, Sink)]
#[sink(of = per_at, into = upserts { url: "x" }, key = (idd))]
pub struct PerAt {
    pub id: i64,
}

#[derive(Clone, Record, Sink)]
#[sink(of = bare, into = upserts { url: "x" }, key = id)]
pub struct Bare {
    pub id: i64,
}

#[derive(Clone, Record, Sink)]
#[sink(of = early_key, key = (id), into = upserts { url: "x" })]
pub struct EarlyKey {
    pub id: i64,
}

#[derive(Clone, Record, Sink)]
#[sink(of = of_file, into = file { path: "out", format: json }, key = (id))]
pub struct OfFile {
    pub id: i64,
}

/// Puts rows under their key.
#[derive(Connector)]
#[flow(keyed)]
pub struct Upserts {
    /// Where.
    pub url: String,
}

impl TableSinkConnector for Upserts {}
