use millstream_macros::{Shared, State};

#[derive(State)]
enum Empty {}

#[derive(State)]
union Either {
    a: i64,
    b: u64,
}

#[derive(State)]
struct Slip {
    #[flow(renme = "count")]
    count: u64,
}

#[derive(State)]
struct Borrowed<'a> {
    name: &'a str,
}

#[derive(State)]
struct Unnamed(#[flow(default)] u64);

#[derive(State)]
struct Twice {
    #[flow(default, default = 7)]
    count: u64,
}

#[derive(Shared)]
struct Everywhere {
    #[flow(default)]
    rules: BroadcastState<String, u64>,
}

fn main() {}
