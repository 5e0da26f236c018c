//! `#[derive(Record)]`.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, LitByteStr, Result, Type};

use crate::attributes::FieldAttributes;

/// One column, as far as the derived code is concerned.
struct Column<'a> {
    /// The field in the struct.
    field: &'a Ident,
    /// The variable that holds its value while the record is read.
    variable: Ident,
    ty: &'a Type,
    /// The name in the outside data.
    name: String,
    /// `Option<TimeUnit>`
    unit: TokenStream,
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let columns = columns(input)?;
    let name = &input.ident;
    let decode_json = decode_json(&columns);
    let encode_json = encode_json(&columns);
    let rows = rows(&columns);
    let text = name.unraw().to_string();
    let field: Vec<_> = columns.iter().map(|column| column.field).collect();
    let ty: Vec<_> = columns.iter().map(|column| column.ty).collect();
    let external: Vec<_> = columns.iter().map(|column| &column.name).collect();
    let index: Vec<_> = (0..columns.len()).collect();
    Ok(quote! {
        const _: () = {
            use ::millstream::codegen::derive as __flow;

            #[automatically_derived]
            impl __flow::Record for #name {
                const NAME: &'static str = #text;
                const COLUMNS: &'static [__flow::Column] = &[#(__flow::Column {
                    name: #external,
                    ty: <#ty as __flow::Value>::type_text,
                    optional: <#ty as __flow::Value>::OPTIONAL,
                }),*];
                #decode_json
                #encode_json
                #rows
                fn column_text(&self, index: usize) -> ::core::option::Option<__flow::Str> {
                    match index {
                        #(#index => __flow::Value::column_text(&self.#field),)*
                        _ => ::core::option::Option::None,
                    }
                }
            }

            #[automatically_derived]
            impl __flow::Value for #name {
                const SLOTS: usize = 1 #(+ <#ty as __flow::Value>::SLOTS)*;
                fn type_text() -> ::std::string::String {
                    ::std::string::String::from(#text)
                }
                #[inline]
                fn from_json(
                    reader: &mut __flow::JsonReader<'_>,
                    _unit: ::core::option::Option<__flow::TimeUnit>,
                ) -> ::core::result::Result<Self, __flow::FieldError> {
                    __flow::Record::decode_json(reader)
                }
                #[inline]
                fn write_json(&self, out: &mut ::std::vec::Vec<u8>) {
                    __flow::Record::encode_json(self, out)
                }
                #[inline]
                fn from_row<R: __flow::Row>(
                    row: &R,
                    slot: usize,
                    _unit: ::core::option::Option<__flow::TimeUnit>,
                ) -> ::core::result::Result<Self, __flow::FieldError> {
                    __flow::Record::decode_row(row, slot + 1)
                }
                #[inline]
                fn write_row<W: __flow::CellWriter>(&self, out: &mut W) {
                    __flow::Record::encode_row(self, out)
                }
                #[inline]
                fn write_null_row<W: __flow::CellWriter>(out: &mut W) {
                    <Self as __flow::Record>::encode_null(out)
                }
                fn add_slots(path: ::std::vec::Vec<&'static str>, slots: &mut ::std::vec::Vec<__flow::Slot>) {
                    __flow::add_record_slots::<Self>(path, slots)
                }
                fn column_text(&self) -> ::core::option::Option<__flow::Str> {
                    ::core::option::Option::Some(__flow::json_text(self))
                }
            }

            #[automatically_derived]
            impl __flow::Compare for #name {
                fn compare(&self, other: &Self) -> ::core::cmp::Ordering {
                    #(
                        let order = __flow::Compare::compare(&self.#field, &other.#field);
                        if order.is_ne() {
                            return order;
                        }
                    )*
                    let _ = other;
                    ::core::cmp::Ordering::Equal
                }
            }
        };
    })
}

fn columns(input: &DeriveInput) -> Result<Vec<Column<'_>>> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "a record is a struct with named fields"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new(input.ident.span(), "a record has named fields: they are the names of its columns"));
    };
    if let Some(parameter) = input.generics.params.first() {
        return Err(Error::new(parameter.span(), "a record has no type parameters: its columns have fixed types"));
    }
    let mut columns: Vec<Column<'_>> = Vec::new();
    for (index, field) in fields.named.iter().enumerate() {
        let Some(ident) = &field.ident else { continue };
        let attributes = FieldAttributes::of(field)?;
        let (name, span) = match &attributes.name {
            Some(name) => (name.value(), name.span()),
            None => (ident.unraw().to_string(), ident.span()),
        };
        if columns.iter().any(|column| column.name == name) {
            return Err(Error::new(span, format!("two columns are called `{name}` in the outside data")));
        }
        let unit = match attributes.unit {
            Some(unit) => {
                let variant = format_ident!("{unit}");
                quote!(::core::option::Option::Some(__flow::TimeUnit::#variant))
            }
            None => quote!(::core::option::Option::None),
        };
        columns.push(Column { field: ident, variable: format_ident!("column_{index}"), ty: &field.ty, name, unit });
    }
    Ok(columns)
}

fn decode_json(columns: &[Column<'_>]) -> TokenStream {
    let field = columns.iter().map(|column| column.field);
    let variable: Vec<_> = columns.iter().map(|column| &column.variable).collect();
    let ty = columns.iter().map(|column| column.ty);
    let name: Vec<_> = columns.iter().map(|column| &column.name).collect();
    let unit = columns.iter().map(|column| &column.unit);
    quote! {
        fn decode_json(reader: &mut __flow::JsonReader<'_>) -> ::core::result::Result<Self, __flow::FieldError> {
            #(let mut #variable: ::core::option::Option<#ty> = ::core::option::Option::None;)*
            let mut next = reader.first_key()?;
            while let ::core::option::Option::Some(key) = next {
                match &*key {
                    #(#name => #variable = ::core::option::Option::Some(__flow::json_field(reader, #name, #unit)?),)*
                    _ => reader.skip_value()?,
                }
                next = reader.next_key()?;
            }
            ::core::result::Result::Ok(Self {
                #(#field: match #variable {
                    ::core::option::Option::Some(value) => value,
                    ::core::option::Option::None => __flow::missing_field(#name)?,
                },)*
            })
        }
    }
}

fn encode_json(columns: &[Column<'_>]) -> TokenStream {
    let field = columns.iter().map(|column| column.field);
    let prefix = columns.iter().enumerate().map(|(index, column)| {
        let text = format!("{}{}:", if index == 0 { '{' } else { ',' }, json_string(&column.name));
        LitByteStr::new(text.as_bytes(), column.field.span())
    });
    let end: &[u8] = if columns.is_empty() { b"{}" } else { b"}" };
    let end = LitByteStr::new(end, proc_macro2::Span::call_site());
    quote! {
        fn encode_json(&self, out: &mut ::std::vec::Vec<u8>) {
            #(
                out.extend_from_slice(#prefix);
                __flow::Value::write_json(&self.#field, out);
            )*
            out.extend_from_slice(#end);
        }
    }
}

/// Rows of cells: reading, writing, and the list of slots.
fn rows(columns: &[Column<'_>]) -> TokenStream {
    let field: Vec<_> = columns.iter().map(|column| column.field).collect();
    let variable: Vec<_> = columns.iter().map(|column| &column.variable).collect();
    let ty: Vec<_> = columns.iter().map(|column| column.ty).collect();
    let name: Vec<_> = columns.iter().map(|column| &column.name).collect();
    let unit = columns.iter().map(|column| &column.unit);
    quote! {
        #[inline]
        fn decode_row<R: __flow::Row>(row: &R, slot: usize) -> ::core::result::Result<Self, __flow::FieldError> {
            #(
                let #variable: #ty = __flow::row_field(row, slot, #name, #unit)?;
                let slot = slot + <#ty as __flow::Value>::SLOTS;
            )*
            let _ = (row, slot);
            ::core::result::Result::Ok(Self { #(#field: #variable),* })
        }
        #[inline]
        fn encode_row<W: __flow::CellWriter>(&self, out: &mut W) {
            let _ = &out;
            #(__flow::Value::write_row(&self.#field, out);)*
        }
        fn encode_null<W: __flow::CellWriter>(out: &mut W) {
            let _ = &out;
            #(<#ty as __flow::Value>::write_null_row(out);)*
        }
        fn add_slots(prefix: &[&'static str], slots: &mut ::std::vec::Vec<__flow::Slot>) {
            let _ = (prefix, &slots);
            #(__flow::add_slots::<#ty>(prefix, #name, slots);)*
        }
    }
}

/// A name as a JSON string.
fn json_string(name: &str) -> String {
    let mut out = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::derive;

    fn error(input: syn::DeriveInput) -> String {
        derive(&input).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_record_is_refused() {
        use syn::parse_quote as item;
        assert_eq!(
            error(item!(
                enum A {
                    B,
                }
            )),
            "a record is a struct with named fields"
        );
        assert_eq!(
            error(item!(
                struct A(i64);
            )),
            "a record has named fields: they are the names of its columns"
        );
        assert_eq!(
            error(item!(
                struct A<T> {
                    a: T,
                }
            )),
            "a record has no type parameters: its columns have fixed types"
        );
        let twice = item!(
            struct A {
                #[flow(name = "b")]
                a: i64,
                b: i64,
            }
        );
        assert_eq!(error(twice), "two columns are called `b` in the outside data");
        let unit = item!(
            struct A {
                #[flow(unit = "m")]
                a: Timestamp,
            }
        );
        assert_eq!(error(unit), "unknown unit `m`: use \"s\", \"ms\", \"us\" or \"ns\"");
        let attribute = item!(
            struct A {
                #[flow(nane = "x")]
                a: i64,
            }
        );
        assert_eq!(error(attribute), "unknown attribute `nane`: known are `name = \"..\"`, `unit = \"..\"` and `event_time`");
        assert_eq!(
            error(item!(
                struct A {
                    #[flow(name = "x", name = "y")]
                    a: i64,
                }
            )),
            "`name` is given twice"
        );
        assert!(
            derive(&item!(
                struct A {
                    #[flow(event_time)]
                    r#type: i64,
                }
            ))
            .is_ok()
        );
    }
}
