//! Generated text as tokens.

use proc_macro::TokenStream;

/// Text of the code generator as tokens; their names are seen from where the macro stands.
pub fn tokens(text: &str) -> TokenStream {
    match text.parse() {
        Ok(tokens) => tokens,
        Err(error) => {
            let message = format!("internal error: generated code is no Rust: {error}");
            crate::report::error(&message, crate::place::Place::call_site())
        }
    }
}

/// What makes rustc build again when a file changes.
pub fn tracked(path: &str) -> TokenStream {
    let absolute = std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| path.to_string_lossy().into_owned());
    let absolute = proc_macro::Literal::string(&absolute);
    tokens(&format!("const _: &[u8] = ::core::include_bytes!({absolute});"))
}
