//! `#[derive(Connector)] pub struct Poll { .. }`: the options of a connector, as they are written.
//!
//! The derive macro refuses the same (`macros/src/connector.rs`).

use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;

use super::read::{Place, Reader, within};
use super::written::Written;
use super::{attributes, errors};
use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::Name;

/// A connector of a Rust file.
#[derive(Clone, Debug, PartialEq)]
pub struct RustConnectorItem {
    /// As the language calls it.
    pub name: Name,
    /// The struct.
    pub item: Name,
    /// Modules within the file, then the name of the struct.
    pub path: Vec<String>,
    pub doc: String,
    pub options: Vec<RustOption>,
    /// Names of formats, the default first.
    pub formats: Vec<Name>,
    pub bounded: bool,
    pub replayable: bool,
    pub exactly_once: bool,
    /// It finds rows of tables by their key.
    pub keyed: Option<Span>,
}

/// A field of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RustOption {
    /// As the language calls it.
    pub name: Name,
    pub ty: Written,
    pub doc: String,
    pub default: Option<(ConnectorDefault, Span)>,
    /// `every 5s`
    pub every: bool,
    /// `64MB`
    pub size: bool,
    /// One of these words.
    pub words: Option<Vec<String>>,
}

/// `default = ..`
#[derive(Clone, Debug, PartialEq)]
pub enum ConnectorDefault {
    /// As it stands in Rust.
    Number(String),
    Float(String),
    Bool(bool),
    Text(String),
    /// No literal.
    Other,
}

/// Reads a struct that derives `Connector`.
pub(super) fn read_struct(reader: &mut Reader<'_>, item: &syn::ItemStruct, path: &[String]) {
    let own = reader.place.name(&item.ident);
    let mut fits = reader.is_public(&item.vis, &item.ident, "connector") && reader.no_generics(&item.generics, "connector");
    let path = within(path, own.text.clone());
    let mut read = RustConnectorItem {
        name: Name { text: snake(&own.text), span: own.span },
        item: own.clone(),
        path,
        doc: documented(reader, &item.attrs, &own, "connector", &mut fits),
        options: Vec::new(),
        formats: Vec::new(),
        bounded: false,
        replayable: false,
        exactly_once: false,
        keyed: None,
    };
    let mut problems = Vec::new();
    of_struct(reader, &item.attrs, &mut read, &mut problems);
    if matches!(item.fields, syn::Fields::Unnamed(_)) {
        problems.push(errors::connector_fields(&own));
    }
    for field in &item.fields {
        let Some(ident) = &field.ident else { continue };
        let name = reader.place.name(ident);
        let doc = documented(reader, &field.attrs, &name, "option", &mut fits);
        let ty = Written::of(&field.ty, &reader.place);
        let mut option = RustOption { name, ty, doc, default: None, every: false, size: false, words: None };
        of_field(reader, &field.attrs, &mut option, &mut problems);
        if let Some(first) = read.options.iter().find(|first| first.name.text == option.name.text) {
            problems.push(errors::connector_option_twice(&option.name, first.name.span));
        }
        if ["format", "since", "until"].contains(&option.name.text.as_str()) {
            problems.push(errors::connector_option_taken(&option.name));
        }
        read.options.push(option);
    }
    fits &= problems.is_empty();
    problems.into_iter().for_each(|problem| reader.report(problem));
    match fits {
        true => reader.file.connectors.push(read),
        false => reader.file.broken.push(read.name.text),
    }
}

/// The doc comment, which is all that users of the connector have to go by.
fn documented(reader: &mut Reader<'_>, attrs: &[syn::Attribute], name: &Name, what: &str, fits: &mut bool) -> String {
    attributes::doc(attrs).unwrap_or_else(|| {
        let diagnostic = errors::connector_undocumented(name, what);
        reader.report(diagnostic);
        *fits = false;
        String::new()
    })
}

fn of_struct(reader: &Reader<'_>, attrs: &[syn::Attribute], read: &mut RustConnectorItem, problems: &mut Vec<Diagnostic>) {
    const KNOWN: &[&str] = &["name", "formats", "bounded", "replayable", "exactly_once", "keyed"];
    let place = &reader.place;
    of_flow(place, attrs, KNOWN, problems, |word, meta| {
        match word {
            "name" => read.name = text(place, meta)?,
            "formats" => {
                let Name { text, span } = text(place, meta)?;
                read.formats = words(&text).into_iter().map(|text| Name { text, span }).collect();
            }
            "bounded" => read.bounded = true,
            "replayable" => read.replayable = true,
            "exactly_once" => read.exactly_once = true,
            "keyed" => read.keyed = Some(place.span(meta.path.span())),
            _ => return Ok(false),
        }
        Ok(true)
    });
}

fn of_field(reader: &Reader<'_>, attrs: &[syn::Attribute], option: &mut RustOption, problems: &mut Vec<Diagnostic>) {
    const KNOWN: &[&str] = &["rename", "default", "every", "size", "words"];
    let place = &reader.place;
    of_flow(place, attrs, KNOWN, problems, |word, meta| {
        match word {
            "rename" | "name" => option.name = text(place, meta)?,
            "default" => {
                let value: syn::Expr = meta.value()?.parse()?;
                option.default = Some((default(&value), place.span(value.span())));
            }
            "every" => option.every = true,
            "size" => option.size = true,
            "words" => option.words = Some(words(&text(place, meta)?.text)),
            _ => return Ok(false),
        }
        Ok(true)
    });
}

/// Reads all `#[flow(..)]`. `read` is given each word, and says whether it knows it.
fn of_flow(
    place: &Place<'_>,
    attrs: &[syn::Attribute],
    known: &[&str],
    problems: &mut Vec<Diagnostic>,
    mut read: impl FnMut(&str, &ParseNestedMeta<'_>) -> syn::Result<bool>,
) {
    for attribute in attrs.iter().filter(|attribute| attribute.path().is_ident("flow")) {
        let parsed = attribute.parse_nested_meta(|meta| {
            let word = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            if !read(&word, &meta)? {
                problems.push(errors::connector_attribute(&word, place.span(meta.path.span()), known));
                skip(&meta)?;
            }
            Ok(())
        });
        if let Err(error) = parsed {
            problems.push(errors::connector_attribute("", place.span(error.span()), known));
        }
    }
}

/// `= ".."`
fn text(place: &Place<'_>, meta: &ParseNestedMeta<'_>) -> syn::Result<Name> {
    let text: syn::LitStr = meta.value()?.parse()?;
    Ok(Name { text: text.value(), span: place.span(text.span()) })
}

/// Passes over the value of an attribute that is not known.
fn skip(meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.peek(syn::Token![=]) {
        let _: syn::Expr = meta.value()?.parse()?;
    }
    Ok(())
}

fn default(value: &syn::Expr) -> ConnectorDefault {
    let (literal, sign) = match value {
        syn::Expr::Lit(literal) => (&literal.lit, ""),
        syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) => match &**expr {
            syn::Expr::Lit(literal) => (&literal.lit, "-"),
            _ => return ConnectorDefault::Other,
        },
        _ => return ConnectorDefault::Other,
    };
    match literal {
        syn::Lit::Int(number) => ConnectorDefault::Number(format!("{sign}{}", number.base10_digits())),
        syn::Lit::Float(number) => ConnectorDefault::Float(format!("{sign}{}", number.base10_digits())),
        syn::Lit::Bool(value) if sign.is_empty() => ConnectorDefault::Bool(value.value),
        syn::Lit::Str(text) if sign.is_empty() => ConnectorDefault::Text(text.value()),
        _ => ConnectorDefault::Other,
    }
}

fn words(list: &str) -> Vec<String> {
    list.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

/// `HttpPoll` is `http_poll` in the language.
pub(super) fn snake(name: &str) -> String {
    let mut snake = String::new();
    for (index, c) in name.char_indices() {
        if c.is_uppercase() && index > 0 {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}
