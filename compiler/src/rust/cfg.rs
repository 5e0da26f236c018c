//! `#[cfg(..)]` and `#[cfg_attr(..)]`: which items of a file are there, with the features that its crate is built with.
//!
//! In come the items as syn reads them; what is certainly not compiled goes out of them, and is noted for messages. Of what else a `cfg` asks
//! nothing is known here: such an item stays, and rustc says whether it is there.

use std::collections::BTreeSet;

use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Attribute, Item, Meta, Token};

use super::called::called;

/// What is turned on.
pub(super) struct Cfg<'a> {
    pub(super) features: &'a BTreeSet<String>,
    /// Names of items that are left out, and a feature that would bring each back.
    pub(super) left_out: Vec<(String, String)>,
}

impl Cfg<'_> {
    /// Leaves out what is not compiled.
    pub(super) fn file(&mut self, file: &mut syn::File) {
        match self.is_there(&mut file.attrs) {
            true => self.items(&mut file.items),
            false => file.items.clear(),
        }
    }

    fn items(&mut self, items: &mut Vec<Item>) {
        for mut item in std::mem::take(items) {
            let Some(attrs) = attributes(&mut item) else {
                items.push(item);
                continue;
            };
            let written = attrs.clone();
            if !self.is_there(attrs) {
                let needs = written.iter().find_map(|attribute| self.lacks(attribute));
                self.left_out.extend(name(&item).zip(needs));
                continue;
            }
            match &mut item {
                Item::Struct(item) => self.fields(&mut item.fields),
                Item::Enum(item) => {
                    let variants = std::mem::take(&mut item.variants).into_iter();
                    item.variants = variants.filter_map(|mut of| self.is_there(&mut of.attrs).then_some(of)).collect();
                    item.variants.iter_mut().for_each(|variant| self.fields(&mut variant.fields));
                }
                Item::Impl(item) => item.items.retain_mut(|member| match member {
                    syn::ImplItem::Fn(member) => self.is_there(&mut member.attrs),
                    syn::ImplItem::Type(member) => self.is_there(&mut member.attrs),
                    _ => true,
                }),
                Item::Mod(module) => {
                    if let Some((_, items)) = &mut module.content {
                        self.items(items);
                    }
                }
                _ => {}
            }
            items.push(item);
        }
    }

    fn fields(&mut self, fields: &mut syn::Fields) {
        let list = match fields {
            syn::Fields::Named(fields) => &mut fields.named,
            syn::Fields::Unnamed(fields) => &mut fields.unnamed,
            syn::Fields::Unit => return,
        };
        let all = std::mem::take(list).into_iter();
        *list = all.filter_map(|mut field| self.is_there(&mut field.attrs).then_some(field)).collect();
    }

    /// Whether an item with these attributes is compiled. Those of `cfg_attr` come in its place.
    fn is_there(&self, attrs: &mut Vec<Attribute>) -> bool {
        for attribute in std::mem::take(attrs) {
            match attribute.path().is_ident("cfg_attr") {
                true => self.expand(&attribute, attrs, 0),
                false => attrs.push(attribute),
            }
        }
        let mut conditions = attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
        !conditions.any(|condition| condition.parse_args::<Meta>().is_ok_and(|asked| self.holds(&asked, 0) == Some(false)))
    }

    /// `cfg_attr(feature = "x", function)` is `function` with the feature.
    fn expand(&self, attribute: &Attribute, out: &mut Vec<Attribute>, depth: usize) {
        let Ok(parts) = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else { return };
        let mut parts = parts.into_iter();
        if parts.next().is_none_or(|asked| self.holds(&asked, 0) == Some(false)) {
            return;
        }
        for meta in parts {
            let made = Attribute { meta, ..attribute.clone() };
            match made.path().is_ident("cfg_attr") && depth < DEEPEST {
                true => self.expand(&made, out, depth + 1),
                false => out.push(made),
            }
        }
    }

    /// The first feature that a `cfg` asks for and that is off.
    fn lacks(&self, attribute: &Attribute) -> Option<String> {
        if !attribute.path().is_ident("cfg") {
            return None;
        }
        let mut open: Vec<Meta> = attribute.parse_args().ok().into_iter().collect();
        while let Some(asked) = open.pop() {
            if let Some((name, value)) = named(&asked)
                && name == "feature"
                && !self.features.contains(&value)
            {
                return Some(value);
            }
            if let Meta::List(list) = &asked
                && !list.path.is_ident("not")
            {
                let inner = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
                let from = open.len();
                open.extend(inner.into_iter().flatten());
                open[from..].reverse();
            }
        }
        None
    }

    /// None: it is not known here.
    fn holds(&self, asked: &Meta, depth: usize) -> Option<bool> {
        if depth > DEEPEST {
            return None;
        }
        match asked {
            Meta::Path(path) if path.is_ident("test") || path.is_ident("doctest") => Some(false),
            Meta::Path(path) if path.is_ident("unix") => Some(cfg!(unix)),
            Meta::Path(path) if path.is_ident("windows") => Some(cfg!(windows)),
            Meta::Path(path) if path.is_ident("true") => Some(true),
            Meta::Path(path) if path.is_ident("false") => Some(false),
            Meta::Path(_) => None,
            Meta::NameValue(_) => {
                let (name, value) = named(asked)?;
                match name.as_str() {
                    "feature" => Some(self.features.contains(&value)),
                    "target_os" => Some(value == std::env::consts::OS),
                    _ => None,
                }
            }
            Meta::List(list) => {
                let inner = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()?;
                let mut inner = inner.iter().map(|asked| self.holds(asked, depth + 1));
                if list.path.is_ident("not") {
                    return inner.next()?.map(|holds| !holds);
                }
                let decisive = match () {
                    () if list.path.is_ident("all") => false,
                    () if list.path.is_ident("any") => true,
                    () => return None,
                };
                let all: Vec<Option<bool>> = inner.collect();
                match all.contains(&Some(decisive)) {
                    true => Some(decisive),
                    false => (!all.contains(&None)).then_some(!decisive),
                }
            }
        }
    }
}

/// Conditions within each other; more is no program that a person wrote.
const DEEPEST: usize = 50;

/// `feature = "x"`
fn named(meta: &Meta) -> Option<(String, String)> {
    let Meta::NameValue(pair) = meta else { return None };
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else { return None };
    Some((pair.path.get_ident()?.to_string(), text.value()))
}

/// Of items that mean something here.
fn attributes(item: &mut Item) -> Option<&mut Vec<Attribute>> {
    Some(match item {
        Item::Fn(item) => &mut item.attrs,
        Item::Struct(item) => &mut item.attrs,
        Item::Enum(item) => &mut item.attrs,
        Item::Impl(item) => &mut item.attrs,
        Item::Mod(item) => &mut item.attrs,
        Item::Type(item) => &mut item.attrs,
        Item::Use(item) => &mut item.attrs,
        _ => return None,
    })
}

/// As the language calls it, or, of what means nothing there, as Rust does.
fn name(item: &Item) -> Option<String> {
    let ident = match item {
        _ if let Some(name) = called(item) => return Some(name),
        Item::Fn(item) => &item.sig.ident,
        Item::Struct(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        _ => return None,
    };
    Some(ident.unraw().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_compiled_is_left_out() {
        let mut file: syn::File = syn::parse_quote! {
            #[cfg(test)] mod tests {}
            #[cfg(feature = "a")] fn a() {}
            #[cfg(not(feature = "a"))] fn not_a() {}
            #[cfg(all(feature = "a", feature = "b"))] fn a_and_b() {}
            #[cfg(any(feature = "a", feature = "b"))] fn a_or_b() {}
            #[cfg(all(feature = "a", tokio_unstable))] fn who_knows() {}
            #[cfg(all(feature = "b", tokio_unstable))] fn not_here() {}
            #[cfg_attr(feature = "a", function)] fn annotated() {}
            #[cfg_attr(feature = "b", function)] fn plain() {}
            struct Row { x: i64, #[cfg(feature = "b")] y: i64 }
            enum Kind { One, #[cfg(feature = "b")] Two }
            mod inner { #[cfg(feature = "b")] fn deep() {} }
        };
        let features = BTreeSet::from(["a".to_owned()]);
        let mut cfg = Cfg { features: &features, left_out: Vec::new() };
        cfg.file(&mut file);
        let found: Vec<String> = file.items.iter().filter_map(name).collect();
        assert_eq!(found, ["a", "a_or_b", "who_knows", "annotated", "plain", "Row", "Kind"]);
        let annotated = |index: usize| matches!(&file.items[index], Item::Fn(item) if !item.attrs.is_empty());
        assert!(annotated(3) && !annotated(4));
        let Item::Struct(row) = &file.items[5] else { panic!("a struct") };
        let Item::Enum(kind) = &file.items[6] else { panic!("an enum") };
        assert_eq!((row.fields.len(), kind.variants.len()), (1, 1));
        let left_out: Vec<(&str, &str)> = cfg.left_out.iter().map(|(name, feature)| (&**name, &**feature)).collect();
        assert_eq!(left_out, [("a_and_b", "b"), ("not_here", "b"), ("deep", "b")]);
    }
}
