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

#[function]
pub async fn waits(_text: &str) -> bool {
    true
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
