//! Types that no column has, refused where they are written and with what to write instead.
//!
//! Only well-known names are looked at: an alias or a type of the user's own is left to rustc.

use syn::spanned::Spanned;
use syn::{Error, GenericArgument, PathArguments, Result, Type};

/// Refuses types that rustc would refuse with a message about traits.
pub(crate) fn check(ty: &Type) -> Result<()> {
    let refuse = |help: &str| Err(Error::new(ty.span(), format!("no column has this type: {help}")));
    match ty {
        Type::Reference(_) => refuse("hold a value of its own, such as `String` instead of `&str`"),
        Type::Tuple(tuple) if tuple.elems.is_empty() => refuse("it holds nothing"),
        Type::Tuple(_) => refuse("write a struct with `#[derive(Clone, Record)]`, whose fields have names"),
        Type::Array(_) | Type::Slice(_) => refuse("write `Vec<..>`"),
        Type::Group(group) => check(&group.elem),
        Type::Paren(paren) => check(&paren.elem),
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else { return Ok(()) };
            if let Some(help) = instead(&last.ident.to_string()) {
                return refuse(help);
            }
            if last.ident == "Decimal" && matches!(last.arguments, PathArguments::None) {
                return refuse("write its precision and scale, such as `Decimal<10, 2>`");
            }
            let PathArguments::AngleBracketed(brackets) = &last.arguments else { return Ok(()) };
            for argument in &brackets.args {
                if let GenericArgument::Type(inner) = argument {
                    check(inner)?;
                    if last.ident == "Option" && is_option(inner) {
                        return Err(Error::new(inner.span(), "a value is null or it is not: write one `Option`"));
                    }
                }
            }
            Ok(())
        }
        _ => Ok(()),
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
