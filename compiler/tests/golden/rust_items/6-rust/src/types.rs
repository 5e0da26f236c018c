//! The rows of this job, one struct per set of columns.

use millstream::codegen::*;

/// Rows of `Payment`, the columns in use: in.flow:8 source payments: Payment from file { path: "payments.jsonl", format: json } watermark at - 5s
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Payment {
    pub card: Str,
    pub amount: f64,
    pub at: Timestamp,
}

/// Rows of `Block`, the columns in use: in.flow:9 source blocks: Block from file { path: "blocks.jsonl", format: json } watermark at - 5s
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Block {
    pub number: Str,
    pub at: Timestamp,
}

/// Rows of `Limit`, the columns in use: in.flow:10 source limits: Limit from file { path: "limits.jsonl", format: json }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Limit {
    pub most: f64,
}

/// Rows of `asked: async`: in.flow:13 select { card, bank: bank_of(concat(before, owner_of(card) ?? "none")), at }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Asked {
    pub card: Str,
    pub amount: f64,
    pub at: Timestamp,
    #[flow(name = "owner_of answer 1")]
    pub owner_of_answer_1: Option<Str>,
}

/// Rows of `asked: async`: in.flow:13 select { card, bank: bank_of(concat(before, owner_of(card) ?? "none")), at }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Asked2 {
    pub card: Str,
    pub amount: f64,
    pub at: Timestamp,
    #[flow(name = "owner_of answer 1")]
    pub owner_of_answer_1: Option<Str>,
    #[flow(name = "bank_of answer 1")]
    pub bank_of_answer_1: Str,
}

/// Rows of `asked: select`: in.flow:13 select { card, bank: bank_of(concat(before, owner_of(card) ?? "none")), at }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Asked3 {
    pub card: Str,
    pub bank: Str,
    pub at: Timestamp,
}

/// Rows of `open: async`: in.flow:28 where at > @2026-01-01T00:00:00Z and is_open(number)
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Open {
    pub number: Str,
    pub at: Timestamp,
    #[flow(name = "is_open answer 1")]
    pub is_open_answer_1: bool,
}

/// Rows of `open: answered`: in.flow:28 where at > @2026-01-01T00:00:00Z and is_open(number)
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Open2 {
    pub number: Str,
}

/// Rows of `open: async`: in.flow:28 explode banks_of(number) as bank
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Open3 {
    pub number: Str,
    #[flow(name = "banks_of answer 1")]
    pub banks_of_answer_1: Vec<Str>,
}

/// Rows of `open: explode`: in.flow:28 explode banks_of(number) as bank
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Open4 {
    pub number: Str,
    #[flow(name = "banks_of answer 1")]
    pub banks_of_answer_1: Vec<Str>,
    pub bank: Str,
}

/// Rows of `open: select`: in.flow:28 select { number, bank }
#[derive(Clone, Debug, PartialEq, Record)]
pub struct Open5 {
    pub number: Str,
    pub bank: Str,
}
