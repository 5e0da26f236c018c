//! `#[derive(Source)]` and `#[derive(Sink)]`: the compiler reads what they say; here it is looked at whether it is all there.

use proc_macro2::{TokenStream, TokenTree};
use syn::{DeriveInput, Error, Meta, Result};

use crate::attributes::near;

/// Which derive: its attribute, the word for the stream, the word before the connector, and what may stand behind it.
pub(crate) struct Form(&'static str, &'static str, &'static str, &'static [&'static str]);

pub(crate) const SOURCE: Form = Form("source", "name", "from", &["watermark", "idle_after", "on_error"]);
pub(crate) const SINK: Form = Form("sink", "of", "into", &[]);

/// Nothing, or what is wrong.
pub(crate) fn derive(input: &DeriveInput, Form(attribute, name, before, more): &Form) -> Result<TokenStream> {
    let form = format!("`#[{attribute}({name} = stream, {before} = file {{ path: \"..\" }})]`");
    if !matches!(input.data, syn::Data::Struct(_)) {
        return Err(Error::new(input.ident.span(), "only the struct of a record is bound to a connector"));
    }
    let Some(found) = input.attrs.iter().find(|found| found.path().is_ident(attribute)) else {
        return Err(Error::new(input.ident.span(), format!("say which stream it is, and which connector: {form}")));
    };
    let Meta::List(list) = &found.meta else {
        return Err(Error::new_spanned(found, format!("say which stream it is, and which connector: {form}")));
    };
    let mut words: Vec<syn::Ident> = Vec::new();
    let mut first = true;
    for token in list.tokens.clone() {
        match token {
            TokenTree::Ident(word) if first => words.push(word),
            TokenTree::Punct(punct) if punct.as_char() == ',' => {
                first = true;
                continue;
            }
            _ => {}
        }
        first = false;
    }
    let known: Vec<&str> = [*name, *before].into_iter().chain(more.iter().copied()).collect();
    for word in &words {
        let text = word.to_string();
        if !known.contains(&text.as_str()) {
            let meant =
                known.iter().find(|known| near(&text, known)).map_or(String::new(), |meant| format!(", did you mean `{meant}`?"));
            return Err(Error::new(word.span(), format!("`{text}` is not known here{meant}; write {form}")));
        }
    }
    for needed in [name, before] {
        if !words.iter().any(|word| word == needed) {
            return Err(Error::new_spanned(found, format!("`{needed}` is missing: write {form}")));
        }
    }
    Ok(TokenStream::new())
}
