//! Functions of the text.

use millstream::codegen::*;

/// _items.rs:38 async fn bank_of(text: String) -> String
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

/// _items.rs:33 async fn banks_of(number: &str) -> Vec<String>
pub async fn banks_of(number: &str) -> Result<Vec<Str>, EvalError> {
    Ok(Convert::convert(crate::items::banks_of(number).await))
}

/// _items.rs:28 async fn is_open(number: String) -> Result<bool, String>
pub async fn is_open(number: &str) -> Result<bool, EvalError> {
    Ok(
        Convert::convert(
            {
                let mut retries = Retries::new(3, 250000);
                loop {
                    let answer = crate::items::is_open(Convert::convert(number))
                        .await
                        .map_err(|error| EvalError::new(error.to_string()));
                    if answer.is_ok() || !retries.again().await {
                        break answer;
                    }
                }
            }?,
        ),
    )
}
