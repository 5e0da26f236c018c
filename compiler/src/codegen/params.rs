//! `params.rs`: the params of the job, as flags and as values.

use millstream_runtime::graph::text::{decimal_text, duration_text, timestamp_text};
use millstream_runtime::graph::{Expr, ExprKind, Literal, Param, Ty};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::context::Context;
use super::names::Scope;

/// The fields of `Params`: one for each param and environment variable that something reads.
#[derive(Default)]
pub(super) struct ParamFields {
    names: Scope,
    fields: Vec<(String, Ident)>,
}

impl ParamFields {
    /// The field of `param NAME` or `env NAME`.
    pub(super) fn field(&mut self, name: &str) -> Ident {
        if let Some((_, ident)) = self.fields.iter().find(|(known, _)| known == name) {
            return ident.clone();
        }
        let ident = self.names.value(name.strip_prefix("param ").unwrap_or(name));
        self.fields.push((name.to_owned(), ident.clone()));
        ident
    }
}

/// `params.rs`, or nothing for a job without params.
pub(super) fn render(cx: &Context<'_>) -> Option<TokenStream> {
    let fields = cx.params.borrow().fields.clone();
    if cx.job.params.is_empty() && fields.is_empty() {
        return None;
    }
    let specs = cx.job.params.iter().map(spec);
    let specs = (!cx.job.params.is_empty()).then(|| {
        quote! {
            #[doc = " The flags of this job."]
            pub const SPECS: &[ParamSpec] = &[#(#specs),*];
        }
    });
    let values = (!fields.is_empty()).then(|| values(cx, &fields));
    let use_types = values.as_ref().map(super::tokens::uses_types);
    Some(quote! {
        #![doc = " What this job is given when it starts."]
        use millstream::codegen::*;
        #use_types
        #specs
        #values
    })
}

fn values(cx: &Context<'_>, fields: &[(String, Ident)]) -> TokenStream {
    let (mut declarations, mut reads) = (Vec::new(), Vec::new());
    for (name, ident) in fields {
        let (ty, read) = match name.strip_prefix("env ") {
            Some(variable) => (quote!(Str), quote!(environment(#variable)?)),
            None => {
                let name = name.strip_prefix("param ").unwrap_or(name);
                let ty = cx.job.params.iter().find(|param| param.name == name).map_or(Ty::String, |param| param.ty.clone());
                let read = if ty.is_optional() { quote!(values.optional(#name)?) } else { quote!(values.get(#name)?) };
                (cx.types.borrow_mut().owned(&ty), read)
            }
        };
        declarations.push(quote!(pub #ident: #ty));
        reads.push(quote!(#ident: #read));
    }
    // Environment variables alone need no flags.
    let given = if fields.iter().any(|(name, _)| name.starts_with("param ")) { quote!(values) } else { quote!(_values) };
    quote! {
        #[doc = " The values of this run."]
        #[derive(Clone)]
        pub struct Params { #(#declarations),* }
        impl Params {
            #[doc = " Reads what the command line and the environment give."]
            pub fn read(#given: &ParamValues) -> Result<Self, JobError> {
                Ok(Params { #(#reads),* })
            }
        }
    }
}

fn spec(param: &Param) -> TokenStream {
    let (name, ty) = (&param.name, param.ty.to_string());
    let doc = param.doc.as_deref().unwrap_or_default().trim();
    let default = match param.default.as_ref().and_then(flag_text) {
        Some(text) => quote!(Some(#text)),
        None => quote!(None),
    };
    quote!(ParamSpec { name: #name, ty: #ty, default: #default, doc: #doc })
}

/// A default as the flag would give it. Null is as good as no default.
fn flag_text(default: &Expr) -> Option<String> {
    if let ExprKind::List(items) = &default.kind {
        let items: Vec<String> = items.iter().filter_map(flag_text).map(|item| list_item(&item)).collect();
        return Some(items.join(","));
    }
    let ExprKind::Literal(literal) = &default.kind else {
        return match &default.kind {
            ExprKind::Cast(_, inner) => flag_text(inner),
            _ => Some(default.to_string()),
        };
    };
    Some(match literal {
        Literal::Null => return None,
        Literal::Bool(value) => value.to_string(),
        Literal::Int(value) => value.to_string(),
        Literal::Float(value) => format!("{value:?}"),
        Literal::Decimal(value) => match default.ty.required() {
            Ty::Decimal { scale, .. } => decimal_text(*value, *scale),
            _ => value.to_string(),
        },
        Literal::String(text) => text.clone(),
        Literal::Timestamp(micros) => timestamp_text(*micros),
        Literal::Duration(micros) => duration_text(*micros),
        Literal::Bytes(_) | Literal::Date(_) | Literal::Time(_) => default.to_string().trim_start_matches('@').to_owned(),
    })
}

/// A value as a list has it: in quotes where it would be read as something else.
fn list_item(text: &str) -> String {
    let plain = !text.is_empty() && text.trim() == text && !text.contains([',', '"']);
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::list_item;

    #[test]
    fn items_that_would_be_read_otherwise_are_quoted() {
        let pairs = [("EUR", "EUR"), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("", "\"\""), (" a", "\" a\"")];
        for (text, item) in pairs {
            assert_eq!(list_item(text), item);
        }
    }
}
