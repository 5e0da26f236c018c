use millstream::prelude::*;
use std::collections::HashMap;
use std::time::Duration as Wait;

#[function]
pub fn country_of(ip: &str) -> Option<String> {
    None
}

pub fn helper(ip: &str) -> bool {
    true
}

#[function]
fn private(ip: &str) -> bool {
    true
}

#[function]
pub(crate) fn restricted(ip: &str) -> bool {
    true
}

#[function]
pub fn generic<T: Into<i64>>(value: T) -> i64 {
    value.into()
}

#[function]
pub fn borrowed<'a>(text: &'a str) -> &'a str {
    text
}

#[function]
pub unsafe fn dangerous(text: &str) -> bool {
    true
}

#[function]
pub fn method(&self, text: &str) -> bool {
    true
}

#[function]
pub fn pair((a, b): (i64, i64)) -> i64 {
    a + b
}

#[function]
pub fn nothing(text: &str) {}

#[function]
pub fn changes(text: &mut String) -> bool {
    true
}

#[function]
pub fn types(size: usize, map: HashMap<String, i64>, wait: Wait, full: std::time::Instant, two: (i64, i64)) -> char {
    'a'
}

#[function]
pub fn more(list: &[String], nested: Option<Option<i64>>, money: Decimal, unknown: Orders, own: &Note) -> &str {
    ""
}

#[function]
pub fn slices(list: Option<&[String]>) -> bool {
    true
}

pub struct Note {
    pub text: String,
}
