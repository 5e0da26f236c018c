//! `#[derive(Source)] #[source(name = orders, from = file { .. })]`: a record that says where its rows come from, and the same for sinks.
//!
//! What stands behind `from` and `into` is the language. Out goes the text of an item in which everything stands where it stands in the
//! Rust file, with blanks around it: so mistakes in it have their places there.

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;

use super::read::Reader;
use super::{attributes, errors};
use crate::source::Span;
use crate::syntax::ast::{self, ItemKind, Name};

/// A record that is bound to a connector.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The item, as long as the Rust file.
    pub text: String,
    /// The stream.
    pub name: Name,
    /// The record.
    pub record: String,
    /// Where the connector stands.
    pub at: Span,
}

impl Binding {
    /// Puts the stream's name, which the text has elsewhere, in its place.
    pub fn place_name(&self, parsed: &mut ast::File) {
        for item in &mut parsed.items {
            let name = match &mut item.kind {
                ItemKind::Source(source) => &mut source.name,
                ItemKind::Sink(sink) => &mut sink.pipeline.input,
                _ => continue,
            };
            name.span = self.name.span;
        }
    }
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
    Form { derive: "Sink", attribute: "sink", name: "of", before: "into", more: &["key"] },
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

/// `from = file { path: "x" }`: the word, and what stands behind `=`, if anything does.
struct Said {
    word: Name,
    value: Option<Span>,
    /// It, if it is one word.
    name: Option<Name>,
}

/// Parts a list at its commas.
fn words(reader: &Reader<'_>, tokens: TokenStream) -> Vec<Said> {
    let mut said = Vec::new();
    let mut part: Vec<TokenTree> = Vec::new();
    let mut finish = |part: &mut Vec<TokenTree>| {
        let tokens = std::mem::take(part);
        let Some(TokenTree::Ident(word)) = tokens.first() else { return };
        let value = match &tokens[1..] {
            [TokenTree::Punct(equals), value @ ..] if equals.as_char() == '=' => value,
            _ => &[],
        };
        let name = match value {
            [TokenTree::Ident(name)] => Some(reader.place.name(name)),
            _ => None,
        };
        let value = value.first().zip(value.last()).map(|(first, last)| {
            let (first, last) = (reader.place.span(first.span()), reader.place.span(last.span()));
            Span { end: last.end, ..first }
        });
        said.push(Said { word: reader.place.name(word), value, name });
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
    if let Some(empty) = said.iter().find(|said| said.value.is_none()) {
        return Err((Some(empty.word.span), format!("write `{} = ..`", empty.word.text)));
    }
    let Some(name) = &stream.name else { return Err((stream.value, "the name of a stream is one word".to_owned())) };
    let text = reader.place.whole();
    let part = |span: Span| text.get(span.start as usize..span.end as usize).unwrap_or_default();
    let header = match form.derive {
        "Source" => format!("source {}: {} ", name.text, record.text),
        _ => format!("sink {} ", name.text),
    };
    let at = connector.word.span;
    let start = at.start as usize;
    if let Some(early) = said.iter().find(|said| form.more.contains(&&*said.word.text) && said.word.span.start < at.start) {
        return Err((Some(early.word.span), format!("this stands behind `{}`", form.before)));
    }
    if let Some(key) = said.iter().find(|said| said.word.text == "key")
        && let Some(value) = key.value.filter(|value| !part(*value).starts_with('(') || part(*value) == "()")
    {
        return Err((Some(value), "the columns of the key stand in brackets: `key = (id)`".to_owned()));
    }
    if header.len() > start {
        return Err((Some(at), "there is too little before this in the file: begin the file with a comment".to_owned()));
    }
    let mut out = vec![b' '; text.len()];
    out[start - header.len()..start].copy_from_slice(header.as_bytes());
    for said in said.iter().filter(|said| said.word.text != form.name) {
        let word = said.word.text.replace('_', " ");
        for (span, text) in std::iter::once((said.word.span, word.as_str())).chain(said.value.map(|span| (span, part(span)))) {
            let from = span.start as usize;
            if let Some(place) = out.get_mut(from..from + text.len()) {
                place.copy_from_slice(text.as_bytes());
            }
        }
    }
    let text = String::from_utf8(out).unwrap_or_default();
    Ok(Binding { text, name: name.clone(), record: record.text.clone(), at: connector.value.unwrap_or(at) })
}
