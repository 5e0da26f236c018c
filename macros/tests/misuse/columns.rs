use millstream_macros::Record;
use std::collections::HashMap;

struct Decimal;

#[derive(Record)]
struct Size {
    size: usize,
}

#[derive(Record)]
struct Letters {
    letters: Vec<char>,
}

#[derive(Record)]
struct Labels {
    labels: Option<HashMap<String, String>>,
}

#[derive(Record)]
struct Pair {
    pair: (i64, i64),
}

#[derive(Record)]
struct Array {
    array: [u8; 4],
}

#[derive(Record)]
struct Nested {
    note: Option<Option<String>>,
}

#[derive(Record)]
struct Money {
    money: Decimal,
}

#[derive(Record)]
struct Boxed {
    inside: Box<i64>,
}

fn main() {}
