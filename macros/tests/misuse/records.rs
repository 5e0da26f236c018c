use millstream_macros::Record;

struct Timestamp;

#[derive(Record)]
struct Tuple(i64);

#[derive(Record)]
struct Generic<T> {
    value: T,
}

#[derive(Record)]
struct Borrowed<'a> {
    name: &'a str,
}

#[derive(Record)]
struct Times {
    #[flow(event_time)]
    a: Timestamp,
    #[flow(event_time)]
    b: Timestamp,
}

#[derive(Record)]
struct NoTime {
    #[flow(event_time)]
    at: i64,
}

#[derive(Record)]
struct Slip {
    #[flow(renane = "order-id")]
    id: i64,
}

#[derive(Record)]
struct Unit {
    #[flow(unit = "minutes")]
    at: Timestamp,
}

#[derive(Record)]
struct Twice {
    #[flow(rename = "b")]
    a: i64,
    b: i64,
}

#[derive(Record)]
union Either {
    a: i64,
    b: u64,
}

fn main() {}
