use millstream_macros::{Sink, Source};

#[derive(Source)]
struct Nothing {
    id: i64,
}

#[derive(Source)]
#[source(name = orders, form = file { path: "orders.jsonl" })]
struct Slip {
    id: i64,
}

#[derive(Source)]
#[source(from = file { path: "orders.jsonl" })]
struct NoName {
    id: i64,
}

#[derive(Sink)]
#[sink(of = orders)]
struct Nowhere {
    id: i64,
}

#[derive(Sink)]
#[sink(of = orders, into = stdout)]
enum NoStruct {
    A,
}

#[derive(Sink)]
#[sink(of = orders, into = mirror {}, key = id)]
struct BareKey {
    id: i64,
}

#[derive(Sink)]
#[sink(of = orders, into = mirror {}, key = ())]
struct NoKey {
    id: i64,
}

#[derive(Sink)]
#[sink(of = orders, into = mirror {}, keys = (id))]
struct SlipOfKey {
    id: i64,
}

#[derive(Source)]
#[source(name = orders, from = file {}, key = (id))]
struct KeyOfSource {
    id: i64,
}

fn main() {}
