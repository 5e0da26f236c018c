use std::collections::HashMap;

use millstream_macros::function;

pub struct Decimal;

#[function]
fn private(text: &str) -> bool {
    text.is_empty()
}

#[function]
pub fn generic<T>(_value: T) -> bool {
    true
}

#[function]
pub fn borrowed<'a>(text: &'a str) -> &'a str {
    text
}

#[function(timeout = "5s")]
pub fn at_once(_text: &str) -> bool {
    true
}

#[function(timeout = 5)]
pub async fn no_duration(_text: &str) -> bool {
    true
}

#[function(in_flight = 0)]
pub async fn none_in_flight(_text: &str) -> bool {
    true
}

#[function]
pub async fn stays(_text: &str) -> bool {
    let shared = std::rc::Rc::new(1);
    std::future::ready(()).await;
    *shared > 0
}

#[function]
pub unsafe fn dangerous(_text: &str) -> bool {
    true
}

#[function]
pub fn pair((a, b): (i64, i64)) -> i64 {
    a + b
}

#[function]
pub fn changes(text: &mut String) -> bool {
    text.is_empty()
}

#[function]
pub fn nothing(_text: &str) {}

#[function(title = "x")]
pub fn titled(a: i64) -> i64 {
    a
}

#[function]
pub fn unknown(size: usize, labels: &HashMap<String, String>, pair: (i64, i64), parts: &[char]) -> Result<Option<u128>, String> {
    Err(String::new())
}

#[function]
pub fn twice(nested: Option<Option<i64>>, money: Option<Decimal>, any: impl Into<i64>) -> &str {
    "x"
}

#[function]
pub fn unit(a: i64) -> () {}

#[function(retries = 0)]
pub async fn never_again(_text: &str) -> Result<bool, String> {
    Ok(true)
}

#[function(retries = 3)]
pub async fn never_fails(_text: &str) -> bool {
    true
}

#[function(backoff = "1s")]
pub async fn no_retries(_text: &str) -> Result<bool, String> {
    Ok(true)
}

#[function(retries = 3, backoff = 1)]
pub async fn no_pause(_text: &str) -> Result<bool, String> {
    Ok(true)
}

#[function]
pub fn method(&self, a: i64) -> i64 {
    a
}

#[function]
pub struct NoFunction;

fn main() {}
