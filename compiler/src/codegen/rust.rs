//! Rust files of the user: modules of the crate that lie where the user left them, and what turns the language's rows into
//! the user's structs and back.

use std::path::Path;

use millstream_runtime::graph::{ExprKind, JobGraph, RustType, Ty};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::context::Context;
use super::names::{Scope, ident};
use super::types::type_without_names;

/// The modules of one crate.
#[derive(Default)]
pub(super) struct RustModules {
    /// The name of a module, or the path of one of another crate.
    names: Vec<(Option<Ident>, TokenStream)>,
}

impl RustModules {
    /// Names the modules, after their files.
    pub(super) fn new(job: &JobGraph, scope: &mut Scope) -> Self {
        let stem = |path: &str| Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let names = job.rust.iter().map(|module| match &module.of_crate {
            None => {
                let name = scope.value(&stem(&module.path));
                (Some(name.clone()), quote!(crate::#name))
            }
            Some(of) => {
                let (name, within) = (raw(&of.name), of.within.iter().map(|module| raw(module)));
                (None, quote!(::#name #(::#within)*))
            }
        });
        RustModules { names: names.collect() }
    }

    /// `crate::enrich::country_of`
    pub(super) fn path(&self, module: usize, path: &[String]) -> TokenStream {
        let module = self.names.get(module).map(|(_, path)| path);
        let path = path.iter().map(|segment| raw(segment));
        quote!(#module::#(#path)::*)
    }

    /// `#[path = "/home/ann/enrich.rs"] mod enrich;`
    pub(super) fn render(&self, job: &JobGraph, folder: &Path) -> TokenStream {
        let modules = job.rust.iter().zip(&self.names).filter_map(|(module, (name, _))| {
            let name = name.as_ref()?;
            let path = folder.join(&module.path);
            let path = path.to_string_lossy();
            // What this pipeline does not call, another one may.
            Some(quote! {
                #[path = #path]
                #[allow(dead_code)]
                mod #name;
            })
        });
        quote!(#(#modules)*)
    }
}

/// A name of the user's, as Rust takes it.
pub(super) fn raw(name: &str) -> Ident {
    match syn::parse_str::<Ident>(name) {
        Ok(plain) => plain,
        Err(_) if matches!(name, "self" | "Self" | "super" | "crate") => ident(name),
        Err(_) => Ident::new_raw(name, proc_macro2::Span::call_site()),
    }
}

/// `conversions.rs`: for every type of the user that rows of this job become. Or nothing.
pub(super) fn conversions(cx: &Context<'_>) -> Option<TokenStream> {
    let mut items = TokenStream::new();
    for (module, of) in used(cx) {
        items.extend(conversion(cx, module, of));
    }
    (!items.is_empty()).then(|| {
        quote! {
            #![doc = " Between the rows of this job and the types of its Rust files."]
            use millstream::codegen::*;
            use crate::types;
            #items
        }
    })
}

/// The user's types in the signatures of what is called, and what they contain.
fn used<'a>(cx: &Context<'a>) -> Vec<(usize, &'a RustType)> {
    let mut open = cx.rust_values.borrow().clone();
    let mut number = 0;
    while let Some((_, function)) = cx.called(number) {
        number += 1;
        if matches!(function.body.kind, ExprKind::CallRust { .. }) {
            open.extend(function.params.iter().map(|(_, ty)| ty.clone()));
            open.push(function.body.ty.clone());
        }
    }
    let mut found: Vec<(usize, &RustType)> = Vec::new();
    while let Some(ty) = open.pop() {
        match &ty {
            Ty::Optional(inner) | Ty::List(inner) => open.push((**inner).clone()),
            Ty::Map(key, value) => open.extend([(**key).clone(), (**value).clone()]),
            Ty::Record(_) | Ty::Enum(_) => {
                let job = cx.job;
                for (module, of) in job.rust.iter().enumerate() {
                    for of in of.types.iter().filter(|of| of.ty == ty) {
                        if !found.iter().any(|(_, known)| std::ptr::eq(*known, of)) {
                            found.push((module, of));
                            if let Ty::Record(schema) = &ty {
                                open.extend(schema.fields.iter().map(|field| field.ty.clone()));
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }
    found.sort_by(|a, b| (a.0, &a.1.path).cmp(&(b.0, &b.1.path)));
    found
}

fn conversion(cx: &Context<'_>, module: usize, of: &RustType) -> TokenStream {
    let theirs = cx.rust.path(module, &of.path);
    let members: Vec<Ident> = of.members.iter().map(|member| raw(member)).collect();
    match &of.ty {
        Ty::Record(schema) => {
            let ours = cx.row(schema);
            let fields: Vec<Ident> = schema.fields.iter().map(|field| cx.types.borrow_mut().field(schema, &field.name)).collect();
            quote! {
                impl Convert<#theirs> for #ours {
                    #[inline]
                    fn convert(self) -> #theirs {
                        #theirs { #(#members: Convert::convert(self.#fields)),* }
                    }
                }
                impl Convert<#ours> for #theirs {
                    #[inline]
                    fn convert(self) -> #ours {
                        #ours { #(#fields: Convert::convert(self.#members)),* }
                    }
                }
            }
        }
        Ty::Enum(enumeration) => {
            let ours = cx.types.borrow_mut().owned(&type_without_names(&of.ty));
            let values: Vec<TokenStream> =
                enumeration.values.iter().map(|value| cx.types.borrow_mut().enum_value(enumeration, value)).collect();
            quote! {
                impl Convert<#theirs> for #ours {
                    #[inline]
                    fn convert(self) -> #theirs {
                        match self { #(#values => #theirs::#members),* }
                    }
                }
                impl Convert<#ours> for #theirs {
                    #[inline]
                    fn convert(self) -> #ours {
                        match self { #(#theirs::#members => #values),* }
                    }
                }
            }
        }
        _ => TokenStream::new(),
    }
}
