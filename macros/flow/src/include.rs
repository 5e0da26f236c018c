//! `include_flow!("orders.flow")`: a file beside the Rust file that names it.

use std::path::{Path, PathBuf};

use proc_macro::{Literal, Span, TokenStream, TokenTree};

use millstream_compiler::disk::Disk;
use millstream_compiler::embed;

use crate::place::Place;
use crate::{code, report};

/// The module, or all mistakes of the file at its name.
pub fn expand(input: TokenStream) -> TokenStream {
    let (name, span) = match argument(input) {
        Ok(argument) => argument,
        Err(place) => return report::error("write the path of one file: `include_flow!(\"orders.flow\")`", place),
    };
    let place = Place { first: span, last: span };
    let path = beside(&name);
    let embedded = match embed::compile(&path.to_string_lossy(), &Disk, embed::Place::File) {
        Ok(embedded) => embedded,
        Err(error) => {
            let message = format!("{error}\nhelp: the path is relative to the Rust file, as for `include_str!`");
            return report::error(&message, place);
        }
    };
    let mut out = report::all(&embedded.diagnostics, &embedded.sources, |_| (place, false));
    out.extend(embedded.module.iter().map(|module| code::tokens(&module.text)));
    out.extend(embedded.sources.files().map(|(_, file)| code::tracked(&file.path)));
    out
}

/// The one string; else where something else stands.
fn argument(input: TokenStream) -> Result<(String, Span), Place> {
    let mut tokens = input.into_iter();
    let (first, second) = (tokens.next(), tokens.next());
    let span = first.as_ref().map_or_else(Span::call_site, TokenTree::span);
    let wrong = Place { first: span, last: second.as_ref().map_or(span, TokenTree::span) };
    let Some(TokenTree::Literal(literal)) = first else { return Err(wrong) };
    let comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    if second.is_some_and(|token| !comma(&token)) || tokens.next().is_some() {
        return Err(wrong);
    }
    string(&literal).map(|name| (name, literal.span())).ok_or(wrong)
}

/// The value of a plain or a raw string. Paths need no escapes but `\\`.
fn string(literal: &Literal) -> Option<String> {
    let text = literal.to_string();
    if let Some(raw) = text.strip_prefix('r') {
        let inner = raw.trim_matches('#');
        return Some(inner.strip_prefix('"')?.strip_suffix('"')?.to_owned());
    }
    Some(text.strip_prefix('"')?.strip_suffix('"')?.replace("\\\\", "\\"))
}

/// As seen from where rustc runs.
fn beside(name: &str) -> PathBuf {
    let folder = match Span::call_site().local_file() {
        Some(file) => file.parent().map(Path::to_owned).unwrap_or_default(),
        // Editors that do not know the file.
        None => std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default().join("src"),
    };
    folder.join(name)
}
