//! Types that no column has, refused where they are written and with what to write instead.
//!
//! Only well-known names are looked at: an alias or a type of the user's own is left to rustc.

use syn::spanned::Spanned;
use syn::{Error, GenericArgument, PathArguments, Result, Type};

/// Refuses types that rustc would refuse with a message about traits.
pub(crate) fn check(ty: &Type) -> Result<()> {
    known(ty, "no column has this type")
}

/// A parameter of a function: a type of columns, or a borrowed one.
pub(crate) fn argument(ty: &Type) -> Result<()> {
    match ty {
        Type::Reference(reference) if reference.mutability.is_some() => {
            Err(Error::new(ty.span(), "arguments cannot be changed: take a value or `&T`, and return what is new"))
        }
        Type::Reference(reference) => match &*reference.elem {
            Type::Slice(slice) => known(&slice.elem, UNKNOWN),
            inner => known(inner, UNKNOWN),
        },
        Type::ImplTrait(_) => Err(Error::new(
            ty.span(),
            "nothing in the language says what this is: write one function for each type that it is used with",
        )),
        _ => match inside(ty, "Option") {
            Some(inner @ Type::Reference(_)) => argument(inner),
            _ => known(ty, UNKNOWN),
        },
    }
}

/// What a function returns: a type of columns, an iterator of such, or a `Result` of that.
pub(crate) fn result(ty: &Type) -> Result<()> {
    let borrowed = |ty: &Type| {
        Err(Error::new(ty.span(), "nothing is borrowed from a row: return a value of its own, such as `String` or `Vec<T>`"))
    };
    let ty = inside(ty, "Result").unwrap_or(ty);
    match inside(ty, "Option").unwrap_or(ty) {
        Type::Reference(reference) => match (&reference.lifetime, &*reference.elem) {
            (Some(lifetime), Type::Path(path)) if lifetime.ident == "static" && path.path.is_ident("str") => Ok(()),
            _ => borrowed(ty),
        },
        Type::ImplTrait(bounds) => match iterator(bounds) {
            true => Ok(()),
            false => Err(Error::new(ty.span(), "of `impl` types only `impl Iterator<Item = ..>` is known, as a result")),
        },
        Type::Tuple(tuple) if tuple.elems.is_empty() => {
            Err(Error::new(ty.span(), "this function gives no value: say what it returns, such as `-> bool`"))
        }
        _ => known(ty, UNKNOWN),
    }
}

fn iterator(bounds: &syn::TypeImplTrait) -> bool {
    bounds.bounds.iter().any(|bound| match bound {
        syn::TypeParamBound::Trait(bound) => {
            bound.path.segments.last().is_some_and(|last| last.ident == "Iterator" || last.ident == "IntoIterator")
        }
        _ => false,
    })
}

/// Whether it is a `Result`, as far as its name says so.
pub(crate) fn is_result(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Result"))
}

/// Where a type names another by its plain name, itself or in brackets.
pub(crate) fn mention(ty: &Type, name: &syn::Ident) -> Option<proc_macro2::Span> {
    let Type::Path(path) = ty else { return None };
    if let Some(found) = path.path.get_ident().filter(|found| *found == name) {
        return Some(found.span());
    }
    let PathArguments::AngleBracketed(brackets) = &path.path.segments.last()?.arguments else { return None };
    brackets.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => mention(ty, name),
        _ => None,
    })
}

/// Whether it is a reference, or one inside of an `Option` or a `Result`.
pub(crate) fn is_borrowed(ty: &Type) -> bool {
    match inside(ty, "Result").or_else(|| inside(ty, "Option")) {
        Some(inner) => is_borrowed(inner),
        None => matches!(ty, Type::Reference(_)),
    }
}

const UNKNOWN: &str = "the language does not know this type";

/// The first type in the brackets of one of this name.
fn inside<'t>(ty: &'t Type, name: &str) -> Option<&'t Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(brackets) = &last.arguments else { return None };
    brackets.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

fn known(ty: &Type, title: &str) -> Result<()> {
    let refuse = |help: &str| Err(Error::new(ty.span(), format!("{title}: {help}")));
    match ty {
        Type::Reference(_) => refuse("hold a value of its own, such as `String` instead of `&str`"),
        Type::Tuple(tuple) if tuple.elems.is_empty() => refuse("it holds nothing"),
        Type::Tuple(_) => refuse("write a struct with `#[derive(Clone, Record)]`, whose fields have names"),
        Type::Array(_) | Type::Slice(_) => refuse("write `Vec<..>`"),
        Type::Group(group) => known(&group.elem, title),
        Type::Paren(paren) => known(&paren.elem, title),
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else { return Ok(()) };
            if let Some(help) = instead(&last.ident.to_string()) {
                return refuse(help);
            }
            if last.ident == "Duration" && path.path.segments.first().is_some_and(|first| first.ident == "std") {
                return refuse("write `Duration` of `millstream::prelude`");
            }
            if last.ident == "Decimal" && matches!(last.arguments, PathArguments::None) {
                return refuse("write its precision and scale, such as `Decimal<10, 2>`");
            }
            let PathArguments::AngleBracketed(brackets) = &last.arguments else { return Ok(()) };
            if last.ident == "Decimal" && !digits(brackets) {
                return refuse("write 1 to 38 digits, and no more of them behind the point: `Decimal<10, 2>`");
            }
            for argument in &brackets.args {
                if let GenericArgument::Type(inner) = argument {
                    known(inner, title)?;
                    if last.ident == "Option" && is_option(inner) {
                        return Err(Error::new(inner.span(), "a value is null or it is not: write one `Option`"));
                    }
                }
            }
            Ok(())
        }
        Type::FnPtr(_) | Type::TraitObject(_) | Type::ImplTrait(_) | Type::Ptr(_) | Type::Never(_) => {
            refuse("write one of the types of columns, or a struct with `#[derive(Record)]`")
        }
        _ => Ok(()),
    }
}

/// Whether precision and scale are such, as far as they are numbers here.
fn digits(brackets: &syn::AngleBracketedGenericArguments) -> bool {
    let numbers: Vec<u32> = brackets
        .args
        .iter()
        .filter_map(|argument| match argument {
            GenericArgument::Const(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(number), .. })) => number.base10_parse().ok(),
            _ => None,
        })
        .collect();
    match numbers[..] {
        [precision, scale] => (1..=38).contains(&precision) && scale <= precision,
        _ => true,
    }
}

fn is_option(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Option"))
}

fn instead(name: &str) -> Option<&'static str> {
    Some(match name {
        "usize" | "u128" => "write `u64`",
        "isize" | "i128" => "write `i64`, or `Decimal<38, 0>` for more digits",
        "char" | "Cow" | "PathBuf" => "write `String`",
        "HashMap" => "write `Map<K, V>`, a `BTreeMap`: its order is the same every time",
        "HashSet" | "BTreeSet" | "VecDeque" => "write `Vec<T>`",
        "Box" | "Rc" | "Arc" => "write the type that is inside",
        "SystemTime" | "Instant" | "NaiveDateTime" | "DateTime" => "write `Timestamp` of `millstream::prelude`",
        _ => return None,
    })
}
