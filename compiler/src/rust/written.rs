//! Types as they are written in a Rust file, as far as the language can ask about them.

use syn::spanned::Spanned;

use super::read::Place;
use crate::source::Span;

/// A type and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    pub kind: WrittenKind,
    pub span: Span,
    /// On one line, as the file has it.
    pub text: String,
}

/// The forms of types.
#[derive(Clone, Debug, PartialEq)]
pub enum WrittenKind {
    /// `Option<String>`, `Decimal<10, 2>`, `enrich::Order`: the segments before the last, the last, and what is in brackets.
    Named { before: Vec<String>, name: String, args: Vec<Written>, numbers: Vec<u32> },
    /// `&T`; `is_static` with `'static`.
    Reference { is_static: bool, inner: Box<Written> },
    /// `[T]`
    Slice(Box<Written>),
    /// `impl Iterator<Item = T>`
    Iterator(Box<Written>),
    /// `()`, or no type at all.
    Unit,
    /// Anything else, and what to write instead.
    Other(&'static str),
}

impl Written {
    /// Reads a type.
    pub fn of(ty: &syn::Type, place: &Place<'_>) -> Written {
        let span = place.span(ty.span());
        let make = |kind| Written { kind, span, text: place.text(span) };
        make(match ty {
            syn::Type::Path(path) if path.qself.is_none() => return Written::path(&path.path, place, span),
            syn::Type::Group(group) => return Written::of(&group.elem, place),
            syn::Type::Paren(paren) => return Written::of(&paren.elem, place),
            syn::Type::Reference(reference) if reference.mutability.is_some() => {
                WrittenKind::Other("arguments cannot be changed: take a value or `&T`, and return what is new")
            }
            syn::Type::Reference(reference) => WrittenKind::Reference {
                is_static: reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static"),
                inner: Box::new(Written::of(&reference.elem, place)),
            },
            syn::Type::Slice(slice) => WrittenKind::Slice(Box::new(Written::of(&slice.elem, place))),
            syn::Type::Tuple(tuple) if tuple.elems.is_empty() => WrittenKind::Unit,
            syn::Type::Tuple(_) => WrittenKind::Other("write a struct with `#[derive(Record)]`: its fields have names"),
            syn::Type::Array(_) => WrittenKind::Other("write `Vec<..>`"),
            syn::Type::ImplTrait(bounds) => match iterator_item(bounds) {
                Some(item) => WrittenKind::Iterator(Box::new(Written::of(item, place))),
                None => WrittenKind::Other("of `impl` types only `impl Iterator<Item = ..>` is known, as a result"),
            },
            _ => WrittenKind::Other("write one of the types of columns, or a struct with `#[derive(Record)]`"),
        })
    }

    fn path(path: &syn::Path, place: &Place<'_>, span: Span) -> Written {
        let mut segments: Vec<&syn::PathSegment> = path.segments.iter().collect();
        let (mut args, mut numbers) = (Vec::new(), Vec::new());
        let last = segments.pop();
        if let Some(syn::PathArguments::AngleBracketed(brackets)) = last.map(|last| &last.arguments) {
            for argument in &brackets.args {
                match argument {
                    syn::GenericArgument::Type(ty) => args.push(Written::of(ty, place)),
                    syn::GenericArgument::Const(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(number), .. })) => {
                        numbers.extend(number.base10_parse::<u32>());
                    }
                    _ => {}
                }
            }
        }
        let name = last.map(|last| place.ident(&last.ident)).unwrap_or_default();
        let before = segments.iter().map(|segment| place.ident(&segment.ident)).collect();
        Written { kind: WrittenKind::Named { before, name, args, numbers }, span, text: place.text(span) }
    }

    /// `Result<T, E>`: there may be no value.
    pub fn is_result(&self) -> bool {
        matches!(&self.kind, WrittenKind::Named { name, .. } if name == "Result")
    }

    /// No type: a function without `->`.
    pub fn unit(span: Span) -> Written {
        Written { kind: WrittenKind::Unit, span, text: "()".to_owned() }
    }
}

fn iterator_item(bounds: &syn::TypeImplTrait) -> Option<&syn::Type> {
    bounds.bounds.iter().find_map(|bound| {
        let syn::TypeParamBound::Trait(bound) = bound else { return None };
        let last = bound.path.segments.last().filter(|last| last.ident == "Iterator" || last.ident == "IntoIterator")?;
        let syn::PathArguments::AngleBracketed(brackets) = &last.arguments else { return None };
        brackets.args.iter().find_map(|argument| match argument {
            syn::GenericArgument::AssocType(assoc) if assoc.ident == "Item" => Some(&assoc.ty),
            _ => None,
        })
    })
}
