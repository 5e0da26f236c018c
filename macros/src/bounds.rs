//! What the fields of a derived type must be, said once at each of them.
//!
//! As a predicate of the implementation it holds inside of it, so that rustc complains about a field that does not fit at the field alone,
//! and not at every use of it in derived code.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Type;

/// `T: bound`, which stands where the type does.
pub(crate) fn bound(ty: &Type, bound: &TokenStream) -> TokenStream {
    let end = last_span(ty);
    let bound = quote_spanned!(end=> #bound);
    let bound: TokenStream = bound
        .into_iter()
        .map(|mut token| {
            token.set_span(end);
            token
        })
        .collect();
    quote_spanned!(end=> #ty: #bound)
}

/// The same, believed and not said: for all implementations of an item but one, so that a mistake has one message.
///
/// rustc leaves a predicate with a lifetime of its own to those who use the implementation.
pub(crate) fn quiet(bound: &TokenStream) -> TokenStream {
    quote!(for<'__flow> #bound)
}

/// Where a type ends.
fn last_span(ty: &Type) -> Span {
    ty.to_token_stream().into_iter().last().map_or_else(Span::call_site, |token| token.span())
}
