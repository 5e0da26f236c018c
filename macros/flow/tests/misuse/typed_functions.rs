//! What only rustc knows of functions.

use millstream::prelude::*;

/// Its error cannot be printed.
pub struct Silent;

#[function]
pub fn error(text: &str) -> Result<i64, Silent> {
    Err(Silent)
}

#[function]
pub async fn stays(_text: &str) -> bool {
    let shared = std::rc::Rc::new(1);
    std::future::ready(()).await;
    *shared > 0
}

fn main() {}
