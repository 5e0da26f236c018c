//! `#[derive(Connector)]`: reads the options of a connector of the user's own into the struct.
//!
//! The compiler reads the same struct for the language (`compiler/src/rust/connectors.rs`), and refuses the same.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Field, Fields, GenericArgument, Lit, LitStr, PathArguments, Result, Type};

use crate::attributes::near;

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(syn::DataStruct { fields: fields @ (Fields::Named(_) | Fields::Unit), .. }) = &input.data else {
        let text = "the options of a connector are the named fields of a struct: `pub struct Poll { pub url: String }`";
        return Err(Error::new(input.ident.span(), text));
    };
    if let Some(parameter) = input.generics.params.first() {
        return Err(Error::new(
            parameter.span(),
            "options have no type parameters and no lifetimes: hold values such as `String`",
        ));
    }
    documented(&input.attrs, input.ident.span(), "a connector", "what it reads or writes")?;
    let connector = of_struct(input)?;
    let (mut names, mut reads) = (Vec::<String>::new(), Vec::new());
    for field in fields {
        let Some(ident) = &field.ident else { continue };
        let option = of_field(field)?;
        let name = option.name.as_ref().map_or_else(|| ident.unraw().to_string(), LitStr::value);
        if names.contains(&name) {
            return Err(Error::new(ident.span(), format!("two options are called `{name}`")));
        }
        if ["format", "since", "until"].contains(&name.as_str()) {
            let text = format!("every connector has an option `{name}` already: give this one another name");
            return Err(Error::new(ident.span(), text));
        }
        documented(&field.attrs, ident.span(), "an option", "what it means, with its unit")?;
        let value = read(&connector, &name, field, &option)?;
        reads.push(quote!(#ident: #value));
        names.push(name);
    }
    let ident = &input.ident;
    Ok(quote! {
        #[automatically_derived]
        impl ::millstream::codegen::Connector for #ident {
            const NAME: &'static str = #connector;
            fn from_options(
                options: &::millstream::codegen::Options,
            ) -> ::core::result::Result<Self, ::millstream::codegen::JobError> {
                ::millstream::codegen::connector::check_names(#connector, options, &[#(#names),*])?;
                ::core::result::Result::Ok(#ident { #(#reads),* })
            }
        }
    })
}

/// Whoever reads `millstream connectors` has nothing but the doc comments.
fn documented(attributes: &[Attribute], span: proc_macro2::Span, what: &str, says: &str) -> Result<()> {
    if attributes.iter().any(|attribute| attribute.path().is_ident("doc")) {
        return Ok(());
    }
    Err(Error::new(span, format!("{what} has a doc comment, which its users read: write `/// ..` above it, {says}")))
}

/// What the struct says of itself that the language has to know; the macro only needs its name.
fn of_struct(input: &DeriveInput) -> Result<String> {
    const KNOWN: &[&str] = &["name", "formats", "bounded", "replayable", "exactly_once", "keyed"];
    let mut name = snake(&input.ident.unraw().to_string());
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("flow")) {
        attribute.parse_nested_meta(|meta| {
            let word = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            match word.as_str() {
                "name" => name = meta.value()?.parse::<LitStr>()?.value(),
                "formats" => {
                    let formats: LitStr = meta.value()?.parse()?;
                    if words(&formats).is_empty() {
                        return Err(Error::new(formats.span(), "name the formats, the default first: `formats = \"json, csv\"`"));
                    }
                }
                "bounded" | "replayable" | "exactly_once" | "keyed" => {}
                _ => return Err(Error::new(meta.path.span(), unknown(&word, KNOWN, "a connector"))),
            }
            Ok(())
        })?;
    }
    Ok(name)
}

#[derive(Default)]
struct OptionAttributes {
    name: Option<LitStr>,
    default: Option<syn::Expr>,
    every: bool,
    size: bool,
    words: Option<LitStr>,
}

fn of_field(field: &Field) -> Result<OptionAttributes> {
    const KNOWN: &[&str] = &["rename", "default", "every", "size", "words"];
    let mut found = OptionAttributes::default();
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("flow")) {
        attribute.parse_nested_meta(|meta| {
            let word = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            match word.as_str() {
                "rename" | "name" => found.name = Some(meta.value()?.parse()?),
                "default" => found.default = Some(meta.value()?.parse()?),
                "every" => found.every = true,
                "size" => found.size = true,
                "words" => found.words = Some(meta.value()?.parse()?),
                _ => return Err(Error::new(meta.path.span(), unknown(&word, KNOWN, "an option"))),
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// The types of options, by the last word of their path.
const TYPES: &[&str] = &[
    "String",
    "Str",
    "Secret",
    "bool",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "usize",
    "Duration",
    "Timestamp",
];
const HELP: &str = "an option is a `String`, `Secret`, `bool`, `f64`, a whole number such as `u64`, a `Duration`, a `Timestamp`, a \
                    `Vec<String>` of columns, or an `Option` of one of them";

/// The expression that reads an option.
fn read(connector: &str, name: &str, field: &Field, option: &OptionAttributes) -> Result<TokenStream> {
    let inner = argument_of(&field.ty, "Option");
    let ty = inner.unwrap_or(&field.ty);
    let kind = kind(ty).ok_or_else(|| Error::new(field.ty.span(), HELP))?;
    let misplaced = |attribute: &str, wanted: &str| {
        Err(Error::new(field.ty.span(), format!("`{attribute}` is for a `{wanted}`, and this is another type")))
    };
    if option.every && kind != "Duration" {
        return misplaced("every", "Duration");
    }
    if option.size && kind != "u64" {
        return misplaced("size", "u64");
    }
    if option.words.is_some() && kind != "String" {
        return misplaced("words", "String");
    }
    match (&option.default, inner) {
        (Some(default), Some(_)) => {
            Err(Error::new(default.span(), "an `Option` may be left out as it is: take `default` or the `Option` away"))
        }
        (Some(default), None) => {
            let value = default_value(default, &kind, option)?;
            Ok(quote! {
                match ::millstream::codegen::connector::optional::<#ty>(options, #name)? {
                    ::core::option::Option::Some(value) => value,
                    ::core::option::Option::None => #value,
                }
            })
        }
        (None, Some(inner)) => Ok(quote!(::millstream::codegen::connector::optional::<#inner>(options, #name)?)),
        (None, None) => Ok(quote!(::millstream::codegen::connector::required::<#ty>(#connector, options, #name)?)),
    }
}

/// The last word of a known type; `Vec` for columns.
fn kind(ty: &Type) -> Option<String> {
    if argument_of(ty, "Vec").is_some_and(|inner| kind(inner).as_deref() == Some("String")) {
        return Some("Vec".to_owned());
    }
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| matches!(last.arguments, PathArguments::None))?;
    let name = last.ident.to_string();
    TYPES.contains(&name.as_str()).then_some(name)
}

/// `T` of `Option<T>`.
fn argument_of<'t>(ty: &'t Type, name: &str) -> Option<&'t Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(brackets) = &last.arguments else { return None };
    match brackets.args.first() {
        Some(GenericArgument::Type(ty)) => Some(ty),
        _ => None,
    }
}

fn default_value(default: &syn::Expr, kind: &str, option: &OptionAttributes) -> Result<TokenStream> {
    let wrong = |expected: &str| Err(Error::new(default.span(), format!("the default of this option is {expected}")));
    let (literal, negative) = match default {
        syn::Expr::Lit(literal) => (&literal.lit, false),
        syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) => match &**expr {
            syn::Expr::Lit(literal) => (&literal.lit, true),
            _ => return wrong("a literal"),
        },
        _ => return wrong("a literal, as its users would write it"),
    };
    match (kind, literal) {
        ("String", Lit::Str(text)) if !negative => {
            if let Some(words_) = &option.words
                && !words(words_).contains(&text.value())
            {
                return wrong(&format!("one of the words {}", words(words_).join(", ")));
            }
            Ok(quote!(::std::string::String::from(#text)))
        }
        ("String", _) => wrong("a text in quotes"),
        ("Str", Lit::Str(text)) if !negative => Ok(quote!(::millstream::codegen::Str::from(#text))),
        ("Str", _) => wrong("a text in quotes"),
        ("bool", Lit::Bool(_)) if !negative => Ok(quote!(#default)),
        ("bool", _) => wrong("`true` or `false`"),
        ("f64", Lit::Float(_)) => Ok(quote!(#default)),
        ("f64", _) => wrong("a number with a point, such as `0.5`"),
        ("u64", Lit::Str(text)) if option.size && !negative => match size(&text.value()) {
            Some(bytes) => Ok(quote!(#bytes)),
            None => wrong("a size such as \"64MB\""),
        },
        ("u64", _) if option.size => wrong("a size such as \"64MB\""),
        ("Duration", Lit::Str(text)) if !negative => match duration(&text.value()) {
            Some(micros) => Ok(quote!(::millstream::codegen::Duration(#micros))),
            None => wrong("a duration such as \"10s\" or \"1h30m\""),
        },
        ("Duration", _) => wrong("a duration such as \"10s\" or \"1h30m\""),
        ("Secret" | "Timestamp" | "Vec", _) => wrong("not known before the job: take `default` away"),
        (_, Lit::Int(_)) => Ok(quote!(#default)),
        _ => wrong("a whole number"),
    }
}

/// `10s`, `1h30m`: in microseconds.
pub(crate) fn duration(text: &str) -> Option<i64> {
    const UNITS: [(&str, i64); 6] =
        [("d", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1000), ("us", 1)];
    let (mut rest, mut total, mut next) = (text, 0_i64, 0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (count, behind) = rest.split_at(digits);
        let end = behind.find(|c: char| c.is_ascii_digit()).unwrap_or(behind.len());
        let unit = UNITS[next..].iter().position(|(name, _)| *name == &behind[..end])? + next;
        total = total.checked_add(count.parse::<i64>().ok()?.checked_mul(UNITS[unit].1)?)?;
        (next, rest) = (unit + 1, &behind[end..]);
    }
    (!text.is_empty()).then_some(total)
}

/// `64MB`: in bytes, as the language counts them.
fn size(text: &str) -> Option<u64> {
    let at = text.find(|c: char| !c.is_ascii_digit())?;
    let (count, unit) = text.split_at(at);
    let shift = ["B", "KB", "MB", "GB", "TB"].iter().position(|known| *known == unit)? * 10;
    count.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// The words of `"json, csv"`.
fn words(list: &LitStr) -> Vec<String> {
    list.value().split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

/// `HttpPoll` is `http_poll` in the language.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for (index, c) in name.char_indices() {
        if c.is_uppercase() && index > 0 {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

fn unknown(word: &str, known: &[&str], of: &str) -> String {
    let list = known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    match known.iter().find(|known| near(word, known)) {
        Some(meant) => format!("{of} has no attribute `{word}`: did you mean `{meant}`? known are {list}"),
        None => format!("{of} has no attribute `{word}`: known are {list}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{duration, size, snake};

    #[test]
    fn literals_mean_what_they_mean_in_the_language() {
        assert_eq!(duration("1h30m"), Some(5_400_000_000));
        assert_eq!(duration("250ms"), Some(250_000));
        assert_eq!([duration(""), duration("5"), duration("5x"), duration("5s1h")], [None; 4]);
        assert_eq!((size("64MB"), size("1KB"), size("7"), size("1XB")), (Some(64 << 20), Some(1024), None, None));
        assert_eq!((snake("HttpPoll"), snake("Poll")), ("http_poll".to_owned(), "poll".to_owned()));
    }
}
