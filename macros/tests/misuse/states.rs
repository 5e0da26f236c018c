use millstream_macros::State;

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

fn main() {}
