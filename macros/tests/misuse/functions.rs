use millstream_macros::function;

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
pub struct NoFunction;

fn main() {}
