//! `#[derive(Source)]` and `#[derive(Sink)]`: the compiler reads what they say; here it is looked at whether it is all there.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{DeriveInput, Error, Meta, Result};

use crate::attributes::near;

/// Which derive: its attribute, the word for the stream, the word before the connector, and what may stand behind it.
pub(crate) struct Form(&'static str, &'static str, &'static str, &'static [&'static str]);

pub(crate) const SOURCE: Form = Form("source", "name", "from", &["watermark", "idle_after", "on_error"]);
pub(crate) const SINK: Form = Form("sink", "of", "into", &["key"]);

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
    for part in parts(list.tokens.clone()) {
        let Some(TokenTree::Ident(word)) = part.first() else { continue };
        if word == "key" && more.contains(&"key") {
            key(word, &part[1..])?;
        }
        words.push(word.clone());
    }
    let known: Vec<&str> = [*name, *before].into_iter().chain(more.iter().copied()).collect();
    for word in &words {
        let text = word.to_string();
        if !known.contains(&text.as_str()) {
            let instead = match known.iter().find(|known| near(&text, known)) {
                Some(meant) => format!(", did you mean `{meant}`?"),
                None => format!("; write {form}"),
            };
            return Err(Error::new(word.span(), format!("`{text}` is not known here{instead}")));
        }
    }
    for needed in [name, before] {
        if !words.iter().any(|word| word == needed) {
            return Err(Error::new_spanned(found, format!("`{needed}` is missing: write {form}")));
        }
    }
    Ok(TokenStream::new())
}

/// A list parted at its commas.
fn parts(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts: Vec<Vec<TokenTree>> = vec![Vec::new()];
    for token in tokens {
        match (&token, parts.last_mut()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == ',' => parts.push(Vec::new()),
            (_, Some(last)) => last.push(token),
            (_, None) => {}
        }
    }
    parts
}

/// `key = (customer, day)`: the columns of the key stand in brackets, as in the language.
fn key(word: &syn::Ident, behind: &[TokenTree]) -> Result<()> {
    const FORM: &str = "the columns of the key stand in brackets: write `key = (id)`, `key = (customer, day)`";
    match behind {
        [TokenTree::Punct(equals), TokenTree::Group(columns)]
            if equals.as_char() == '=' && columns.delimiter() == Delimiter::Parenthesis && !columns.stream().is_empty() =>
        {
            Ok(())
        }
        [_, value, ..] => Err(Error::new(value.span(), FORM)),
        _ => Err(Error::new(word.span(), FORM)),
    }
}
