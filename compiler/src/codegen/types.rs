//! Rust types of Flow types, and `types.rs`: one struct per shape of row.
//!
//! Schemas with equal columns share a struct, whatever they are called in the text. The rest of code generation asks here
//! for a type or for a field's identifier; only structs that somebody asked for are printed.

use std::collections::HashMap;

use millstream_runtime::graph::{EnumType, Field, Schema, Ty};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::doc;
use super::names::Scope;

/// All structs of one crate.
#[derive(Default)]
pub(super) struct Types {
    structs: Vec<Struct>,
    by_shape: HashMap<Schema, usize>,
    /// In the order in which they are first asked for.
    enums: Vec<Enum>,
    names: Scope,
}

struct Enum {
    of: EnumType,
    ident: Ident,
    /// In the order of the values.
    variants: Vec<Ident>,
}

struct Struct {
    ident: Ident,
    /// Without names of records.
    shape: Schema,
    fields: Vec<Ident>,
    doc: String,
    used: bool,
    /// Whether rows of it are kept in state.
    state: bool,
}

impl Types {
    /// Gives a schema its struct, if it has none. A record's own name goes before the hint.
    pub(super) fn declare(&mut self, schema: &Schema, hint: &str, doc: &str) -> usize {
        let shape = without_names(schema);
        if let Some(index) = self.by_shape.get(&shape) {
            return *index;
        }
        let ident = self.names.type_name(schema.name.as_deref().unwrap_or(hint));
        for field in &schema.fields {
            self.declare_within(&field.ty, &format!("{ident} {}", field.name));
        }
        let mut scope = Scope::default();
        let fields = schema.fields.iter().map(|field| scope.value(&field.name)).collect();
        let index = self.structs.len();
        self.by_shape.insert(shape.clone(), index);
        self.structs.push(Struct { ident, shape, fields, doc: doc.to_string(), used: false, state: false });
        index
    }

    fn declare_within(&mut self, ty: &Ty, hint: &str) {
        match ty {
            Ty::Record(schema) => {
                let doc = match &schema.name {
                    Some(name) => format!("`record {name}`"),
                    None => String::new(),
                };
                self.declare(schema, hint, &doc);
            }
            Ty::Optional(inner) | Ty::List(inner) => self.declare_within(inner, hint),
            Ty::Map(key, value) => {
                self.declare_within(key, hint);
                self.declare_within(value, hint);
            }
            _ => {}
        }
    }

    /// The struct of a schema, as other modules name it: `types::Flight`.
    pub(super) fn row(&mut self, schema: &Schema) -> TokenStream {
        let ident = self.use_struct(schema);
        quote!(types::#ident)
    }

    /// Says that rows of this schema are kept in state, so their struct (and those in it) can be encoded.
    pub(super) fn keep_in_state(&mut self, schema: &Schema) {
        let index = self.declare(schema, "Row", "");
        if std::mem::replace(&mut self.structs[index].state, true) {
            return;
        }
        for field in &schema.fields {
            self.keep_type_in_state(&field.ty);
        }
    }

    /// As [`keep_in_state`](Self::keep_in_state), for whatever records are in a type.
    pub(super) fn keep_type_in_state(&mut self, ty: &Ty) {
        match ty {
            Ty::Record(schema) => self.keep_in_state(schema),
            Ty::Optional(inner) | Ty::List(inner) => self.keep_type_in_state(inner),
            Ty::Map(key, value) => {
                self.keep_type_in_state(key);
                self.keep_type_in_state(value);
            }
            _ => {}
        }
    }

    /// The field of a column. A column that does not exist gives its plain name (planning has made sure that it does).
    pub(super) fn field(&mut self, schema: &Schema, column: &str) -> Ident {
        let index = self.declare(schema, "Row", "");
        let found = &self.structs[index];
        match found.shape.fields.iter().position(|field| field.name == column) {
            Some(position) => found.fields[position].clone(),
            None => Scope::default().value(column),
        }
    }

    /// The owned Rust type, as other modules name it.
    pub(super) fn owned(&mut self, ty: &Ty) -> TokenStream {
        self.rust(ty, true)
    }

    /// The enum's number.
    fn enumeration(&mut self, of: &EnumType) -> usize {
        if let Some(index) = self.enums.iter().position(|known| known.of == *of) {
            return index;
        }
        let ident = self.names.type_name(&of.name);
        let mut scope = Scope::default();
        let variants = of.values.iter().map(|value| scope.type_name(value)).collect();
        self.enums.push(Enum { of: of.clone(), ident, variants });
        self.enums.len() - 1
    }

    /// A value of an enum, as other modules name it: `types::Status::Open`.
    pub(super) fn enum_value(&mut self, of: &EnumType, value: &str) -> TokenStream {
        let index = self.enumeration(of);
        let Enum { ident, variants, of } = &self.enums[index];
        // Typing has made sure that the value is there.
        let position = of.values.iter().position(|known| known == value).unwrap_or(0);
        let variant = &variants[position];
        quote!(types::#ident::#variant)
    }

    fn use_struct(&mut self, schema: &Schema) -> Ident {
        let index = self.declare(schema, "Row", "");
        self.mark_used(index);
        self.structs[index].ident.clone()
    }

    fn mark_used(&mut self, index: usize) {
        if std::mem::replace(&mut self.structs[index].used, true) {
            return;
        }
        let shape = self.structs[index].shape.clone();
        for field in &shape.fields {
            self.rust(&field.ty, true);
        }
    }

    fn rust(&mut self, ty: &Ty, with_path: bool) -> TokenStream {
        match ty {
            Ty::Bool => quote!(bool),
            Ty::Int8 => quote!(i8),
            Ty::Int16 => quote!(i16),
            Ty::Int32 => quote!(i32),
            Ty::Int64 => quote!(i64),
            Ty::UInt8 => quote!(u8),
            Ty::UInt16 => quote!(u16),
            Ty::UInt32 => quote!(u32),
            Ty::UInt64 => quote!(u64),
            Ty::Float32 => quote!(f32),
            Ty::Float64 => quote!(f64),
            Ty::Decimal { precision, scale } => {
                let (precision, scale) = decimal_parameters(*precision, *scale);
                quote!(Decimal<#precision, #scale>)
            }
            Ty::String => quote!(Str),
            Ty::Bytes => quote!(Vec<u8>),
            Ty::Date => quote!(Date),
            Ty::Time => quote!(Time),
            Ty::Timestamp => quote!(Timestamp),
            Ty::Duration => quote!(Duration),
            Ty::Uuid => quote!(Uuid),
            Ty::Json => quote!(Json),
            Ty::List(inner) => {
                let inner = self.rust(inner, with_path);
                quote!(Vec<#inner>)
            }
            Ty::Map(key, value) => {
                let (key, value) = (self.rust(key, with_path), self.rust(value, with_path));
                quote!(Map<#key, #value>)
            }
            Ty::Enum(of) => {
                let index = self.enumeration(of);
                let ident = &self.enums[index].ident;
                if with_path { quote!(types::#ident) } else { quote!(#ident) }
            }
            Ty::Record(schema) => {
                let ident = self.use_struct(schema);
                if with_path { quote!(types::#ident) } else { quote!(#ident) }
            }
            Ty::Optional(inner) => {
                let inner = self.rust(inner, with_path);
                quote!(Option<#inner>)
            }
            // A column of nothing but nulls, and what never reaches planning.
            Ty::Null | Ty::Error => quote!(Option<bool>),
        }
    }

    /// `types.rs`, or nothing where no struct is used.
    pub(super) fn render(&mut self) -> Option<TokenStream> {
        let mut items = TokenStream::new();
        for index in 0..self.structs.len() {
            if self.structs[index].used {
                items.extend(self.render_struct(index));
            }
        }
        for Enum { of, ident, variants } in &self.enums {
            let (name, texts) = (&of.name, &of.values);
            let doc = format!(" `enum {name}`");
            items.extend(quote! {
                flow_enum! {
                    #[doc = #doc]
                    pub enum #ident = #name { #(#variants = #texts),* }
                }
            });
        }
        (!items.is_empty()).then(|| {
            quote! {
                #![doc = " The rows of this job, one struct per set of columns."]
                use millstream::codegen::*;
                #items
            }
        })
    }

    fn render_struct(&mut self, index: usize) -> TokenStream {
        let shape = self.structs[index].shape.clone();
        let idents = self.structs[index].fields.clone();
        let fields = shape.fields.iter().zip(idents).map(|(field, ident)| {
            let ty = self.rust(&field.ty, false);
            let attribute = attribute(field, &ident);
            quote!(#attribute pub #ident: #ty)
        });
        let fields = quote!(#(#fields,)*);
        let Struct { ident, doc, state, .. } = &self.structs[index];
        let doc = doc::line(doc);
        let state = state.then(|| quote!(, State));
        quote! {
            #doc
            #[derive(Clone, Debug, PartialEq, Record #state)]
            pub struct #ident { #fields }
        }
    }
}

/// `#[flow(name = "order-id", unit = "ms")]`, as far as it says something that the field does not.
fn attribute(field: &Field, ident: &Ident) -> TokenStream {
    let name = field.external_name();
    let named = (ident != name).then(|| quote!(name = #name));
    let unit = field.unit.map(|unit| unit.word()).map(|unit| quote!(unit = #unit));
    let parts: Vec<_> = named.into_iter().chain(unit).collect();
    if parts.is_empty() { TokenStream::new() } else { quote!(#[flow(#(#parts),*)]) }
}

/// Precision and scale as literals without a suffix.
pub(super) fn decimal_parameters(precision: u8, scale: u8) -> (proc_macro2::Literal, proc_macro2::Literal) {
    (proc_macro2::Literal::u8_unsuffixed(precision), proc_macro2::Literal::u8_unsuffixed(scale))
}

fn without_names(schema: &Schema) -> Schema {
    let field = |field: &Field| Field { ty: type_without_names(&field.ty), ..field.clone() };
    Schema { name: None, fields: schema.fields.iter().map(field).collect() }
}

/// The type without names of records: what two types that share a Rust type have in common.
pub(super) fn type_without_names(ty: &Ty) -> Ty {
    match ty {
        Ty::Record(schema) => Ty::Record(without_names(schema)),
        Ty::List(inner) => Ty::List(Box::new(type_without_names(inner))),
        Ty::Optional(inner) => Ty::Optional(Box::new(type_without_names(inner))),
        Ty::Map(key, value) => Ty::Map(Box::new(type_without_names(key)), Box::new(type_without_names(value))),
        other => other.clone(),
    }
}
