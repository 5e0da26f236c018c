//! Names that `use` brings into a Rust file.

use std::collections::HashMap;

use syn::UseTree;
use syn::ext::IdentExt;

/// Adds the names of a `use`, each with its whole path.
pub(super) fn collect(tree: &UseTree, before: &str, into: &mut HashMap<String, String>) {
    let within = |ident: &syn::Ident| match before.is_empty() {
        true => ident.unraw().to_string(),
        false => format!("{before}::{}", ident.unraw()),
    };
    match tree {
        UseTree::Path(path) => collect(&path.tree, &within(&path.ident), into),
        UseTree::Name(name) => drop(into.insert(name.ident.unraw().to_string(), within(&name.ident))),
        UseTree::Rename(rename) => drop(into.insert(rename.rename.unraw().to_string(), within(&rename.ident))),
        UseTree::Group(group) => group.items.iter().for_each(|tree| collect(tree, before, into)),
        _ => {}
    }
}
