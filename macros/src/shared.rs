//! `#[derive(Shared)]`: the states without key of a process.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Result, parse_quote};

use crate::attributes::FieldAttributes;
use crate::bounds::bound;

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(syn::DataStruct { fields: fields @ Fields::Named(_), .. }) = &input.data else {
        return Err(Error::new(
            input.ident.span(),
            "states without key are the named fields of a struct: `struct Known { rules: BroadcastState<String, Rule> }`",
        ));
    };
    for field in fields {
        if FieldAttributes::of(field)?.default.is_some() {
            return Err(Error::new(
                field.span(),
                "a state without key that a checkpoint does not have begins empty: leave out `default`",
            ));
        }
    }
    let field = fields.iter().map(|field| &field.ident);
    let state = FieldAttributes::names_of(fields)?.into_iter().map(|name| format!("shared.{name}"));
    let shared = quote!(::millstream::codegen::SharedState);
    let mut generics = input.generics.clone();
    if generics.params.is_empty() {
        let bounds = fields.iter().map(|field| bound(&field.ty, &shared));
        generics
            .make_where_clause()
            .predicates
            .extend::<Vec<syn::WherePredicate>>(bounds.map(|bound| parse_quote!(#bound)).collect());
    }
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let name = &input.ident;
    Ok(quote! {
        #[automatically_derived]
        #[allow(trivial_bounds)]
        impl #impl_generics ::millstream::codegen::Shared for #name #ty_generics #where_clause {
            fn each(
                &mut self,
                visit: &mut dyn ::core::ops::FnMut(
                    &str,
                    &mut dyn ::millstream::codegen::SharedState,
                ) -> ::core::result::Result<(), ::millstream::codegen::JobError>,
            ) -> ::core::result::Result<(), ::millstream::codegen::JobError> {
                #(visit(#state, &mut self.#field)?;)*
                ::core::result::Result::Ok(())
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::derive;

    #[test]
    fn only_named_fields_are_states() {
        let error = derive(&syn::parse_quote!(
            struct A(OperatorList<i64>);
        ))
        .map(|_| ())
        .unwrap_err()
        .to_string();
        assert!(error.contains("named fields"), "{error}");
        let derived = derive(&syn::parse_quote!(
            struct A {
                rules: OperatorList<i64>,
            }
        ))
        .unwrap()
        .to_string();
        assert!(derived.contains("\"shared.rules\""), "{derived}");
    }
}
