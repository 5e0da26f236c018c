use millstream::prelude::*;

#[function]
pub fn lower(text: &str) -> String {
    text.into()
}

#[function(name = "sum")]
pub fn plus(a: i64, b: i64) -> i64 {
    a + b
}

#[function(title = "x")]
pub fn titled(a: i64) -> i64 {
    a
}

#[function]
pub fn twice(a: i64) -> i64 {
    a
}

pub mod inner {
    #[function]
    pub fn twice(a: i64) -> i64 {
        a
    }
}

#[function]
pub fn nobody(ip: &str) -> Maybe<bool> {
    true
}

mod secret {
    #[function]
    pub fn hidden(a: i64) -> i64 {
        a
    }
}
