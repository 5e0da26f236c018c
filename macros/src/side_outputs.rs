//! `#[derive(SideOutputs)]`: the side outputs of an operator, a variant for each.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DeriveInput, Error, Fields, Result};

const FORM: &str = "`pub enum Beside { Calm(Calm), Odd(Odd) }`";

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(DataEnum { variants, .. }) = &input.data else {
        let text = format!("side outputs are the variants of an enum, each with its record: {FORM}");
        return Err(Error::new(input.ident.span(), text));
    };
    if let Some(parameter) = input.generics.params.first() {
        return Err(Error::new(parameter.span(), "side outputs have no type parameters and no lifetimes: write their records"));
    }
    if variants.is_empty() {
        return Err(Error::new(input.ident.span(), format!("there is no side output: write a variant for each, as in {FORM}")));
    }
    let mut outputs = Vec::new();
    for variant in variants {
        let record = match &variant.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => &fields.unnamed[0].ty,
            _ => {
                let text = format!("a side output carries one record: write `{0}({0}Row)`", variant.ident);
                return Err(Error::new(variant.span(), text));
            }
        };
        outputs.push((&variant.ident, record));
    }
    let name = &input.ident;
    let texts = outputs.iter().map(|(variant, _)| variant.to_string());
    let either = quote!(::millstream::codegen::Either);
    let rows =
        outputs.iter().rev().fold(quote!(::millstream::codegen::NoSide), |others, (_, record)| quote!(#either<#record, #others>));
    let arms = outputs.iter().enumerate().map(|(index, (variant, _))| {
        let row = (0..index).fold(quote!(#either::Left(row)), |row, _| quote!(#either::Right(#row)));
        quote!(#name::#variant(row) => #row)
    });
    Ok(quote! {
        #[automatically_derived]
        impl ::millstream::codegen::SideOutputs for #name {
            type Rows = #rows;
            const NAMES: &'static [&'static str] = &[#(#texts),*];

            #[inline]
            fn into_rows(self) -> Self::Rows {
                match self {
                    #(#arms,)*
                }
            }
        }
    })
}
