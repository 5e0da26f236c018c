//! `#[derive(Source)] #[source(name = orders, from = file { .. })]`: a record that says where its rows come from, and the same for sinks.
//!
//! What stands behind `from` and `into` is the language. Out goes the text of an item in which everything stands where it stands in the
//! Rust file, with blanks around it: so mistakes in it have their places there.

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;

use super::read::Reader;
use super::{attributes, errors};
use crate::source::Span;
use crate::syntax::ast::Name;

/// A record that is bound to a connector.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The item, as long as the Rust file.
    pub text: String,
    /// The record.
    pub record: String,
    /// Where the connector stands.
    pub at: Span,
}

/// What the attribute of a derive says.
struct Form {
    derive: &'static str,
    attribute: &'static str,
    /// The word for the stream.
    name: &'static str,
    /// The word before the connector.
    before: &'static str,
    /// What may stand behind it.
    more: &'static [&'static str],
}

const FORMS: [Form; 2] = [
    Form { derive: "Source", attribute: "source", name: "name", before: "from", more: &["watermark", "idle_after", "on_error"] },
    Form { derive: "Sink", attribute: "sink", name: "of", before: "into", more: &[] },
];

/// Reads the bindings of a struct that is a record.
pub(super) fn read(reader: &mut Reader<'_>, item: &syn::ItemStruct, derives: &[String], record: &Name) {
    for form in &FORMS {
        let derived = derives.iter().any(|derive| derive == form.derive);
        let attribute = attributes::find(&item.attrs, form.attribute);
        let said = match (derived, attribute) {
            (false, _) => continue,
            (true, Some(syn::Attribute { meta: syn::Meta::List(list), .. })) => words(reader, list.tokens.clone()),
            (true, _) => Vec::new(),
        };
        match binding(reader, form, &said, record) {
            Ok(binding) => reader.file.bindings.push(binding),
            Err((span, label)) => {
                let span = span.or_else(|| attribute.map(|attribute| reader.place.span(attribute.span()))).unwrap_or(record.span);
                let diagnostic = errors::binding(span, form.derive, form.attribute, form.name, form.before, form.more, &label);
                reader.report(diagnostic);
            }
        }
    }
}

/// `from = file { path: "x" }`: the word, and what stands behind `=`.
struct Said {
    word: Name,
    value: Span,
}

/// Parts a list at its commas.
fn words(reader: &Reader<'_>, tokens: TokenStream) -> Vec<Said> {
    let mut said = Vec::new();
    let mut part: Vec<TokenTree> = Vec::new();
    let mut finish = |part: &mut Vec<TokenTree>| {
        let tokens = std::mem::take(part);
        let (Some(TokenTree::Ident(word)), Some(last)) = (tokens.first(), tokens.last()) else { return };
        let value = tokens.get(2).map_or(last.span(), TokenTree::span);
        let (value, last) = (reader.place.span(value), reader.place.span(last.span()));
        said.push(Said { word: reader.place.name(word), value: Span { end: last.end, ..value } });
    };
    for token in tokens {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => finish(&mut part),
            _ => part.push(token),
        }
    }
    finish(&mut part);
    said
}

/// The item. Err: the place, where it is not the whole attribute, and what is wrong there.
fn binding(reader: &Reader<'_>, form: &Form, said: &[Said], record: &Name) -> Result<Binding, (Option<Span>, String)> {
    let known = |word: &str| word == form.name || word == form.before || form.more.contains(&word);
    if let Some(other) = said.iter().find(|said| !known(&said.word.text)) {
        return Err((Some(other.word.span), "not known here".to_owned()));
    }
    let Some(stream) = said.iter().find(|said| said.word.text == form.name) else {
        return Err((None, format!("`{}` is missing", form.name)));
    };
    let Some(connector) = said.iter().find(|said| said.word.text == form.before) else {
        return Err((None, format!("`{}` is missing", form.before)));
    };
    let text = reader.place.whole();
    let part = |span: Span| text.get(span.start as usize..span.end as usize).unwrap_or_default();
    let stream_name = part(stream.value);
    let header = match form.derive {
        "Source" => format!("source {stream_name}: {} ", record.text),
        _ => format!("sink {stream_name} "),
    };
    let at = connector.word.span;
    let start = at.start as usize;
    if let Some(early) = said.iter().find(|said| form.more.contains(&&*said.word.text) && said.word.span.start < at.start) {
        return Err((Some(early.word.span), format!("this stands behind `{}`", form.before)));
    }
    if header.len() > start {
        return Err((Some(at), "there is too little before this in the file: begin the file with a comment".to_owned()));
    }
    let mut out = vec![b' '; text.len()];
    out[start - header.len()..start].copy_from_slice(header.as_bytes());
    for said in said.iter().filter(|said| said.word.text != form.name) {
        let word = said.word.text.replace('_', " ");
        for (span, text) in [(said.word.span, word.as_str()), (said.value, part(said.value))] {
            let from = span.start as usize;
            if let Some(place) = out.get_mut(from..from + text.len()) {
                place.copy_from_slice(text.as_bytes());
            }
        }
    }
    let text = String::from_utf8(out).unwrap_or_default();
    Ok(Binding { text, record: record.text.clone(), at: connector.value })
}
