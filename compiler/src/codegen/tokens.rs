//! Small questions about generated tokens, so that what is printed compiles without warnings.

use proc_macro2::{Ident, Spacing, TokenStream, TokenTree};
use quote::{format_ident, quote};

/// Whether the tokens use a variable or a module of this name. Fields of the same name (`row.types`, `types: 1`) do not count.
pub(super) fn mentions(tokens: &TokenStream, name: &str) -> bool {
    let mut after_dot = false;
    let mut tokens = tokens.clone().into_iter().peekable();
    while let Some(token) = tokens.next() {
        let dot = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.');
        match &token {
            TokenTree::Ident(ident) if ident == name && !after_dot => {
                let field = matches!(tokens.peek(), Some(TokenTree::Punct(punct))
                    if punct.as_char() == ':' && punct.spacing() == Spacing::Alone);
                if !field {
                    return true;
                }
            }
            TokenTree::Group(group) if mentions(&group.stream(), name) => return true,
            _ => {}
        }
        after_dot = dot;
    }
    false
}

/// Whether evaluation can end early.
pub(super) fn can_fail(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Punct(punct) => punct.as_char() == '?',
        TokenTree::Group(group) => can_fail(&group.stream()),
        _ => false,
    })
}

/// The name itself, or with an underscore before it where the body does not use it.
pub(super) fn unless_used(body: &TokenStream, name: Ident) -> Ident {
    if mentions(body, &name.to_string()) { name } else { format_ident!("_{}", name) }
}

/// `use crate::types;` where the tokens name a struct.
pub(super) fn uses_types(tokens: &TokenStream) -> TokenStream {
    if mentions(tokens, "types") {
        quote!(
            use crate::types;
        )
    } else {
        TokenStream::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_no_variables() {
        assert!(!mentions(&quote!(params.row + other.types), "row"));
        assert!(!mentions(&quote!(Out { types: 1 }), "types"));
        assert!(mentions(&quote!(types::Out { a: 1 }), "types"));
        assert!(mentions(&quote!(f(1, row.a)), "row"));
        assert!(mentions(&quote!(Out { row: row }), "row"));
    }
}
