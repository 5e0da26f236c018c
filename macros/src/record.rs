//! `#[derive(Record)]`.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DeriveInput, Error, Fields, GenericParam, LitByteStr, Result, Type};

use crate::attributes::FieldAttributes;
use crate::bounds::{bound, quiet};
use crate::supported;

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
    if let Data::Enum(data) = &input.data {
        return enumeration(input, data);
    }
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
    let value = quote!(::millstream::codegen::derive::Value);
    let own = syn::parse_quote!(#name);
    let bounds = columns.iter().map(|column| bound(column.ty, &value)).chain([bound(&own, &quote!(::core::clone::Clone))]);
    let bounds: Vec<_> = bounds.collect();
    let believed: Vec<_> = bounds.iter().map(quiet).collect();
    Ok(quote! {
        const _: () = {
            use ::millstream::codegen::derive as __flow;

            #[automatically_derived]
            #[allow(trivial_bounds)]
            impl __flow::Record for #name where #(#believed),* {
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
            #[allow(trivial_bounds)]
            impl __flow::Value for #name where #(#bounds),* {
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
            #[allow(trivial_bounds)]
            impl __flow::Compare for #name where #(#believed),* {
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

/// An enum is a type of columns.
fn enumeration(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    if let Some(parameter) = input.generics.params.first() {
        return Err(Error::new(parameter.span(), "an enum has no type parameters: its values are names"));
    }
    let mut values: Vec<(&Ident, String)> = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            let text = "a value of an enum is just its name: write a record with a column of this enum and optional columns for the rest";
            return Err(Error::new(variant.fields.span(), text));
        }
        let (text, span) = match FieldAttributes::rename_of(&variant.attrs)? {
            Some(name) => (name.value(), name.span()),
            None => (variant.ident.unraw().to_string(), variant.ident.span()),
        };
        if values.iter().any(|(_, known)| *known == text) {
            return Err(Error::new(span, format!("two values are called `{text}` in the outside data")));
        }
        values.push((&variant.ident, text));
    }
    if values.is_empty() {
        return Err(Error::new(input.ident.span(), "an enum has at least one value"));
    }
    let (name, text) = (&input.ident, input.ident.unraw().to_string());
    let (variants, texts): (Vec<_>, Vec<_>) = values.into_iter().unzip();
    Ok(quote! {
        // What the implementations need, said once, where the enum is named.
        const _: () = ::millstream::codegen::derive::enum_is_copied::<#name>();
        ::millstream::flow_enum_impls! { #name = #text { #(#variants = #texts),* } }
    })
}

fn columns(input: &DeriveInput) -> Result<Vec<Column<'_>>> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "a record is a struct with named fields, or an enum"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new(input.ident.span(), "a record has named fields: they are the names of its columns"));
    };
    if let Some(parameter) = input.generics.params.first() {
        return Err(Error::new(
            parameter.span(),
            match parameter {
                GenericParam::Lifetime(_) => "a record has no lifetimes: hold values of their own, `String` instead of `&str`",
                _ => "a record has no type parameters: its columns have fixed types",
            },
        ));
    }
    let mut columns: Vec<Column<'_>> = Vec::new();
    let mut event_time = false;
    for (index, field) in fields.named.iter().enumerate() {
        let Some(ident) = &field.ident else { continue };
        supported::check(&field.ty)?;
        if let Some(span) = supported::mention(&field.ty, &input.ident) {
            return Err(Error::new(span, "a record cannot contain itself: keep the key of the other row instead"));
        }
        let attributes = FieldAttributes::of(field)?;
        if let Some(span) = attributes.event_time {
            if event_time {
                return Err(Error::new(span, "a record has one event time: leave `#[flow(event_time)]` at one of its fields"));
            }
            event_time = true;
            time_is_timestamp(&field.ty)?;
        }
        let (name, span) = match &attributes.name {
            Some(name) => (name.value(), name.span()),
            None => (ident.unraw().to_string(), ident.span()),
        };
        if columns.iter().any(|column| column.name == name) {
            return Err(Error::new(span, format!("two columns are called `{name}` in the outside data")));
        }
        let unit = match attributes.unit {
            Some(_) if not_timestamp(&field.ty) => {
                return Err(Error::new(field.ty.span(), "a unit is of a `Timestamp`: take `unit` away, or make the field one"));
            }
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

/// Event time is a timestamp, which may be missing.
fn time_is_timestamp(ty: &Type) -> Result<()> {
    match not_timestamp(ty) {
        true => Err(Error::new(
            ty.span(),
            "the event time is a `Timestamp`: `#[flow(event_time, unit = \"ms\")]` says what numbers in the data mean",
        )),
        false => Ok(()),
    }
}

/// Whether it is certainly another type: another name may be an alias of the right one.
fn not_timestamp(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    let wrong = ["String", "Str", "bool", "Date", "Time", "Duration", "i64", "u64", "i32", "u32", "f64", "f32"];
    wrong.iter().any(|wrong| last.ident == wrong)
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
                enum A {}
            )),
            "an enum has at least one value"
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
        assert_eq!(
            error(attribute),
            "unknown attribute `nane`: known are `rename = \"..\"`, `unit = \"..\"`, `event_time`, `key` and `default`"
        );
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
                    r#type: Timestamp,
                }
            ))
            .is_ok()
        );
    }
}
