//! From the text of a Rust file to its annotated items.

use std::collections::{BTreeSet, HashMap};

use syn::ext::IdentExt;
use syn::spanned::Spanned;

use super::called::called;
use super::cfg::Cfg;
use super::written::Written;
use super::{RustFile, attributes, errors, functions, imports, operators, types};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{FileId, Span};
use crate::syntax::ast::Name;

/// syn goes down with the nesting of expressions.
const STACK: usize = 256 << 20;
/// Brackets within each other; more is no program that a person wrote.
const DEEPEST: usize = 1_000;

/// A module in a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleFile {
    /// The modules within the file, then its name.
    pub module: Vec<String>,
    /// The folders of the modules around it, within the file.
    pub folders: Vec<String>,
    /// `#[path = "other.rs"]`
    pub path: Option<String>,
}

/// Reads a file. `features`: those of its crate.
pub fn read(id: FileId, text: &str, features: &BTreeSet<String>) -> (RustFile, Diagnostics) {
    let mut diags = Diagnostics::default();
    if let Some(at) = too_deep(text) {
        diags.push(errors::too_deep(Span::new(id, at, at + 1)));
        return (empty(id), diags);
    }
    std::thread::scope(|scope| {
        // Places of tokens are kept per thread: they go with it.
        match std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || read_here(id, text, features)) {
            Ok(reader) => reader.join().unwrap_or_else(|_| (empty(id), Diagnostics::default())),
            Err(_) => read_here(id, text, features),
        }
    })
}

fn empty(id: FileId) -> RustFile {
    RustFile {
        id,
        of_crate: None,
        modules: Vec::new(),
        private_modules: Vec::new(),
        left_out: Vec::new(),
        concealed: Vec::new(),
        bindings: Vec::new(),
        functions: Vec::new(),
        types: Vec::new(),
        operators: Vec::new(),
        connectors: Vec::new(),
        aggregates: Vec::new(),
        retracts: Vec::new(),
        source_connectors: Vec::new(),
        sink_connectors: Vec::new(),
        table_connectors: Vec::new(),
        structs: Vec::new(),
        enums: Vec::new(),
        defaults: Vec::new(),
        plain: Vec::new(),
        plain_types: Vec::new(),
        broken: Vec::new(),
        aliases: HashMap::new(),
        imports: HashMap::new(),
    }
}

fn read_here(id: FileId, text: &str, features: &BTreeSet<String>) -> (RustFile, Diagnostics) {
    let mut reader = Reader { place: Place { id, text }, file: empty(id), diags: Diagnostics::default(), folders: Vec::new() };
    match syn::parse_str::<syn::File>(text) {
        Ok(mut parsed) => {
            let mut cfg = Cfg { features, left_out: Vec::new() };
            cfg.file(&mut parsed);
            reader.file.left_out = cfg.left_out;
            reader.items(&parsed.items, &mut Vec::new());
        }
        Err(error) => {
            let reason = match error.to_string() {
                lexer if lexer.contains("token stream") => "a bracket or a quote does not match here".to_owned(),
                other => other,
            };
            let diagnostic = errors::not_rust(reader.place.span(error.span()), &reason);
            reader.diags.push(diagnostic);
        }
    }
    (reader.file, reader.diags)
}

/// Where brackets are nested too deeply. Counts those in strings and comments too, which is no harm.
fn too_deep(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    text.bytes().position(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEEPEST
    })
}

/// The file that is read: makes places of syn's spans.
pub struct Place<'a> {
    id: FileId,
    text: &'a str,
}

impl Place<'_> {
    pub(super) fn span(&self, span: proc_macro2::Span) -> Span {
        let range = span.byte_range();
        let end = self.text.len();
        let start = range.start.min(end);
        Span::new(self.id, start, range.end.clamp(start, end).max((start + 1).min(end)))
    }

    /// The whole file.
    pub(super) fn whole(&self) -> &str {
        self.text
    }

    /// The text of a place on one line.
    pub(super) fn text(&self, span: Span) -> String {
        let text = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(super) fn ident(&self, ident: &syn::Ident) -> String {
        ident.unraw().to_string()
    }

    pub(super) fn name(&self, ident: &syn::Ident) -> Name {
        Name { text: self.ident(ident), span: self.span(ident.span()) }
    }
}

/// What grows while a file is read.
pub(super) struct Reader<'a> {
    pub(super) place: Place<'a>,
    pub(super) file: RustFile,
    pub(super) diags: Diagnostics,
    /// The folders of the modules around, within the file.
    folders: Vec<String>,
}

impl Reader<'_> {
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.diags.push(diagnostic);
    }

    /// Items of the file or of a module in it, whose path is given.
    fn items(&mut self, items: &[syn::Item], path: &mut Vec<String>) {
        for item in items {
            match item {
                syn::Item::Fn(function) => functions::read(self, function, path),
                syn::Item::Struct(item) => types::read_struct(self, item, path),
                syn::Item::Impl(item) => operators::read_impl(self, item),
                syn::Item::Enum(item) => types::read_enum(self, item, path),
                syn::Item::Type(alias) if alias.generics.params.is_empty() => {
                    let written = Written::of(&alias.ty, &self.place);
                    self.file.aliases.insert(self.place.ident(&alias.ident), written);
                }
                syn::Item::Use(item) => imports::collect(&item.tree, "", &mut self.file.imports),
                syn::Item::Mod(module) => {
                    let name = self.place.ident(&module.ident);
                    let lies_at = attributes::path_of(&module.attrs);
                    match &module.content {
                        content if !matches!(module.vis, syn::Visibility::Public(_)) => {
                            let items = content.iter().flat_map(|(_, items)| items).filter_map(called);
                            self.file.concealed.extend(items.map(|item| (item, name.clone())));
                            self.file.private_modules.push(name);
                        }
                        Some((_, items)) => {
                            self.folders.push(lies_at.unwrap_or_else(|| name.clone()));
                            path.push(name);
                            self.items(items, path);
                            path.pop();
                            self.folders.pop();
                        }
                        None => {
                            let folders = self.folders.clone();
                            self.file.modules.push(ModuleFile { module: within(path, name), folders, path: lies_at });
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Type parameters and lifetimes, which nothing in the language could fill in. True: there are none.
    pub(super) fn no_generics(&mut self, generics: &syn::Generics, what: &str) -> bool {
        let Some(parameter) = generics.params.first() else { return true };
        let span = self.place.span(parameter.span());
        let diagnostic = match parameter {
            syn::GenericParam::Lifetime(_) => errors::lifetime(span, what),
            _ => errors::generic(span, what),
        };
        self.report(diagnostic);
        false
    }

    /// Whether an item can be named from outside. False: reported.
    pub(super) fn is_public(&mut self, visibility: &syn::Visibility, ident: &syn::Ident, what: &str) -> bool {
        if matches!(visibility, syn::Visibility::Public(_)) {
            return true;
        }
        let restricted = match visibility {
            syn::Visibility::Restricted(_) => Some(self.place.span(visibility.span())),
            _ => None,
        };
        let diagnostic = errors::not_public(&self.place.name(ident), what, restricted);
        self.report(diagnostic);
        false
    }
}

/// A path of modules with a name behind it.
pub(super) fn within(path: &[String], name: String) -> Vec<String> {
    path.iter().cloned().chain([name]).collect()
}
