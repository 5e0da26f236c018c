//! Functions of the text.

use millstream::codegen::*;

/// _items.rs:28 async fn bank_of(text: String) -> String
pub async fn bank_of(text: &str) -> Result<Str, EvalError> {
    Ok(Convert::convert(crate::items::bank_of(Convert::convert(text)).await))
}

/// _items.rs:23 async fn owner_of(card: &str) -> Result<Option<String>, String>
pub async fn owner_of(card: &str) -> Result<Option<Str>, EvalError> {
    Ok(
        Convert::convert(
            crate::items::owner_of(card)
                .await
                .map_err(|error| EvalError::new(error.to_string()))?,
        ),
    )
}
