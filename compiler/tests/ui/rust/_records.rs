use millstream::prelude::*;

/// A record with all that is right.
#[derive(Clone, Record)]
pub struct Fine {
    #[flow(rename = "order-id")]
    pub id: i64,
    #[flow(event_time, unit = "ms")]
    pub at: Timestamp,
    #[flow(key)]
    pub name: String,
}

#[derive(Record)]
pub struct NotClone {
    pub id: i64,
}

#[derive(Clone, Record)]
struct NotPublic {
    pub id: i64,
}

#[derive(Clone, Record)]
pub struct Fields {
    id: i64,
}

#[derive(Clone, Record)]
pub struct Tuple(pub i64);

#[derive(Clone, Record)]
pub struct Generic<T> {
    pub id: T,
}

#[derive(Clone, Record)]
pub struct Borrowed<'a> {
    pub name: &'a str,
}

#[derive(Clone, Record)]
pub struct Times {
    #[flow(event_time)]
    pub a: Timestamp,
    #[flow(event_time)]
    pub b: Timestamp,
    #[flow(event_tme)]
    pub c: Timestamp,
    #[flow(unit = "m")]
    pub d: Timestamp,
    #[flow(unit = "ms")]
    pub e: i64,
    #[flow(key = 1 +)]
    pub f: i64,
}

#[derive(Clone, Record)]
pub struct NoTime {
    #[flow(event_time)]
    pub at: i64,
}

#[derive(Clone, Record)]
pub struct Tree {
    pub children: Vec<Tree>,
}

#[derive(Clone, Record)]
pub struct Taken {
    pub name: String,
}

#[derive(Clone, Record)]
pub enum Status {
    Open,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Record)]
pub enum Holds {
    Nothing,
    Something(i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Record)]
pub enum Empty {}

#[derive(Clone, Record)]
pub struct Twice {
    #[flow(rename = "b")]
    pub a: i64,
    pub b: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Record)]
pub enum Same {
    A,
    #[flow(rename = "A")]
    B,
}
