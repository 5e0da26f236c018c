//! What only rustc knows of records: types of one's own.

use millstream::prelude::*;

/// Not a record.
#[derive(Clone, Debug)]
pub struct Note {
    pub text: String,
}

/// Not an enum of the language.
#[derive(Clone, Copy, Debug)]
pub enum Status {
    Open,
}

#[derive(Clone, Debug, Record)]
pub struct Order {
    pub id: i64,
    pub note: Note,
    pub status: Option<Status>,
    pub more: Vec<Note>,
}

#[derive(Record)]
pub struct NotClone {
    pub id: i64,
}

pub type When = i64;

#[derive(Clone, Debug, Record)]
pub struct Alias {
    #[flow(event_time)]
    pub at: When,
}

#[derive(Debug, Record)]
pub enum Bare {
    Open,
}

fn main() {}
