//! `#[derive(State)]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Expr, ExprLit, Field, Fields, Lit, Result, parse_quote};

use crate::attributes::FieldAttributes;
use crate::bounds::bound;

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let Parts { encode, touch, decode, schema, is_over, expire, types } = match &input.data {
        Data::Struct(data) => {
            let shape = Shape::of(&data.fields)?;
            let (pattern, encode, decode) = (shape.pattern(), shape.encode(), shape.decode());
            let (touch, is_over, expire) = (shape.touch(), shape.is_over(), shape.expire());
            Parts {
                encode: quote!(let Self #pattern = self; #encode),
                touch: quote!(let Self #pattern = self; #touch),
                decode: quote!(::core::result::Result::Ok(Self #decode)),
                schema: shape.schema(),
                is_over: quote!(let Self #pattern = self; #is_over),
                expire: quote!(let Self #pattern = self; #expire),
                types: data.fields.iter().map(|field| &field.ty).collect(),
            }
        }
        Data::Enum(data) if data.variants.is_empty() => {
            return Err(Error::new(input.ident.span(), "an enum without variants has no values to store"));
        }
        Data::Enum(data) => enumeration(data)?,
        Data::Union(_) => return Err(Error::new(input.ident.span(), "state is a struct or an enum")),
    };
    if let Some(lifetime) = input.generics.lifetimes().next() {
        return Err(Error::new(lifetime.span(), "state outlives rows: hold values of its own, `String` instead of `&str`"));
    }
    let mut generics = input.generics.clone();
    let state = quote!(::millstream::codegen::State);
    for parameter in input.generics.type_params() {
        let ident = &parameter.ident;
        generics.make_where_clause().predicates.push(parse_quote!(#ident: #state));
    }
    if generics.params.is_empty() {
        let bounds = types.iter().map(|ty| bound(ty, &state));
        generics
            .make_where_clause()
            .predicates
            .extend::<Vec<syn::WherePredicate>>(bounds.map(|bound| parse_quote!(#bound)).collect());
    }
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let name = &input.ident;
    Ok(quote! {
        const _: () = {
            use ::millstream::codegen::derive as __flow;

            #[automatically_derived]
            #[allow(trivial_bounds)]
            impl #impl_generics ::millstream::codegen::State for #name #ty_generics #where_clause {
                const EXPIRES: bool = false #(|| <#types as ::millstream::codegen::State>::EXPIRES)*;
                fn is_over(&self, now: i64) -> bool {
                    let _ = now;
                    #is_over
                }
                fn expire(&mut self, now: i64) {
                    let _ = now;
                    #expire
                }
                #[inline]
                fn encode(&self, out: &mut ::std::vec::Vec<u8>) {
                    let _ = &out;
                    #encode
                }
                #[inline]
                fn touch(&self) -> u8 {
                    #touch
                }
                #[inline]
                fn decode(input: &mut __flow::StateReader<'_>) -> ::core::result::Result<Self, __flow::StateError> {
                    let _ = &input;
                    #decode
                }
                fn schema() -> ::std::string::String {
                    #schema
                }
            }
        };
    })
}

/// The bodies of the methods, and the types of all fields.
struct Parts<'a> {
    encode: TokenStream,
    touch: TokenStream,
    decode: TokenStream,
    schema: TokenStream,
    is_over: TokenStream,
    expire: TokenStream,
    types: Vec<&'a syn::Type>,
}

/// The fields of a struct or of a variant.
struct Shape<'a> {
    fields: &'a Fields,
    /// As the schema names them; empty where they have none.
    names: Vec<String>,
    /// What follows the schema of a field: what it is in values that were stored without it.
    defaults: Vec<Option<TokenStream>>,
}

impl<'a> Shape<'a> {
    fn of(fields: &'a Fields) -> Result<Self> {
        let defaults = fields.iter().map(default_of).collect::<Result<_>>()?;
        Ok(Shape { fields, names: FieldAttributes::names_of(fields)?, defaults })
    }

    fn variables(&self) -> Vec<syn::Ident> {
        (0..self.fields.len()).map(|index| format_ident!("field_{index}")).collect()
    }

    /// `{ a: field_0 }`, `(field_0)` or nothing.
    fn pattern(&self) -> TokenStream {
        let variable = self.variables();
        match self.fields {
            Fields::Named(fields) => {
                let name = fields.named.iter().map(|field| &field.ident);
                quote!({ #(#name: #variable),* })
            }
            Fields::Unnamed(_) => quote!((#(#variable),*)),
            Fields::Unit => quote!(),
        }
    }

    fn encode(&self) -> TokenStream {
        let variable = self.variables();
        quote!(#(::millstream::codegen::State::encode(#variable, out);)*)
    }

    fn touch(&self) -> TokenStream {
        let variable = self.variables();
        quote!(0 #(| ::millstream::codegen::State::touch(#variable))*)
    }

    fn is_over(&self) -> TokenStream {
        let variable = self.variables();
        quote!(false #(|| ::millstream::codegen::State::is_over(#variable, now))*)
    }

    fn expire(&self) -> TokenStream {
        let variable = self.variables();
        quote!(#(::millstream::codegen::State::expire(#variable, now);)*)
    }

    fn decode(&self) -> TokenStream {
        match self.fields {
            Fields::Named(fields) => {
                let name = fields.named.iter().map(|field| &field.ident);
                quote!({ #(#name: ::millstream::codegen::State::decode(input)?),* })
            }
            Fields::Unnamed(fields) => {
                let value = fields.unnamed.iter().map(|_| quote!(::millstream::codegen::State::decode(input)?));
                quote!((#(#value),*))
            }
            Fields::Unit => quote!(),
        }
    }

    /// An expression: `{a:int64,b:string}`, `(int64,string)` or `()`.
    fn schema(&self) -> TokenStream {
        let ty = self.fields.iter().map(|field| &field.ty);
        let named = matches!(self.fields, Fields::Named(_));
        let name = self.names.iter().map(|name| if named { format!("{}:", quoted(name)) } else { String::new() });
        let (open, close) = if named { ("{", "}") } else { ("(", ")") };
        let default = self.defaults.iter().map(|default| default.as_ref().map(|default| quote!(+ &#default)));
        quote! {{
            let fields: ::std::vec::Vec<::std::string::String> = ::std::vec![
                #(::std::string::String::from(#name) + &<#ty as ::millstream::codegen::State>::schema() #default),*
            ];
            ::std::string::String::from(#open) + &fields.join(",") + #close
        }}
    }
}

/// An expression for what a field with `#[flow(default)]` is in values that were stored without it, as schemas write it.
fn default_of(field: &Field) -> Result<Option<TokenStream>> {
    let Some(default) = FieldAttributes::of(field)?.default else { return Ok(None) };
    if field.ident.is_none() {
        return Err(Error::new(
            field.span(),
            "fields without names are found by their places, and none can be added: give it a name",
        ));
    }
    let ty = &field.ty;
    let value = match default {
        None => quote_spanned!(ty.span()=> <#ty as ::core::default::Default>::default()),
        // Texts of any type.
        Some(Expr::Lit(ExprLit { lit: text @ Lit::Str(_), .. })) => {
            quote_spanned!(text.span()=> <#ty as ::core::convert::From<&str>>::from(#text))
        }
        Some(value) => quote!(#value),
    };
    // Typed here, so that a value of another type is an error where it stands.
    Ok(Some(quote!({
        let value: #ty = #value;
        ::millstream::codegen::derive::default_in_schema(&value)
    })))
}

/// A name as schemas write it: in backquotes where it is no word.
fn quoted(name: &str) -> String {
    if !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        name.to_owned()
    } else {
        format!("`{}`", name.replace('`', "``"))
    }
}

/// The number of the variant, then its fields.
fn enumeration(data: &syn::DataEnum) -> Result<Parts<'_>> {
    let (mut encode, mut decode, mut schema) = (Vec::new(), Vec::new(), Vec::new());
    let (mut touch, mut is_over, mut expire) = (Vec::new(), Vec::new(), Vec::new());
    for (number, variant) in data.variants.iter().enumerate() {
        let (number, name, shape) = (number as u64, &variant.ident, Shape::of(&variant.fields)?);
        let (pattern, encode_fields, decode_fields, fields) = (shape.pattern(), shape.encode(), shape.decode(), shape.schema());
        encode.push(quote!(Self::#name #pattern => { ::millstream::codegen::State::encode(&#number, out); #encode_fields }));
        decode.push(quote!(#number => ::core::result::Result::Ok(Self::#name #decode_fields)));
        let (touch_fields, any_over, let_go) = (shape.touch(), shape.is_over(), shape.expire());
        touch.push(quote!(Self::#name #pattern => { #touch_fields }));
        is_over.push(quote!(Self::#name #pattern => { #any_over }));
        expire.push(quote!(Self::#name #pattern => { #let_go }));
        let name = name.unraw().to_string();
        schema.push(quote!(::std::string::String::from(#name) + &#fields));
    }
    Ok(Parts {
        encode: quote!(match self { #(#encode)* }),
        touch: quote!(match self { #(#touch)* }),
        decode: quote! {
            match <u64 as ::millstream::codegen::State>::decode(input)? {
                #(#decode,)*
                other => ::core::result::Result::Err(__flow::StateError::new(::std::format!("there is no variant {other}"))),
            }
        },
        schema: quote!(::std::string::String::from("enum(") + &[#(#schema),*].join("|") + ")"),
        is_over: quote!(match self { #(#is_over)* }),
        expire: quote!(match self { #(#expire)* }),
        types: data.variants.iter().flat_map(|variant| &variant.fields).map(|field| &field.ty).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::derive;

    #[test]
    fn what_has_no_values_is_refused() {
        let error = |input| derive(&input).map(|_| ()).unwrap_err().to_string();
        assert_eq!(
            error(syn::parse_quote!(
                enum A {}
            )),
            "an enum without variants has no values to store"
        );
        assert_eq!(error(syn::parse_quote!(union A { a: i64, b: u64 })), "state is a struct or an enum");
        // Fields are found by name when their types have changed.
        assert_eq!(
            error(syn::parse_quote!(
                struct A {
                    #[flow(rename = "b")]
                    a: i64,
                    b: i64,
                }
            )),
            "two fields are called `b` in checkpoints"
        );
    }
}
