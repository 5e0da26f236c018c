//! `#[flow(..)]` on a field or on a variant.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, Field, Fields, LitStr, Result, Token};

/// What the attributes of a field say.
#[derive(Default)]
pub(crate) struct FieldAttributes {
    /// The name in the outside data.
    pub name: Option<LitStr>,
    /// The variant of `TimeUnit`.
    pub unit: Option<&'static str>,
    /// Where it says `event_time`.
    pub event_time: Option<Span>,
    /// What the field is in stored values that do not have it: that of its type, or this.
    pub default: Option<Option<Expr>>,
}

/// What is called for every row is there to be inlined, also from other modules and crates; unless its author says otherwise.
pub(crate) fn inline(attributes: &mut Vec<Attribute>) {
    if !attributes.iter().any(|attribute| attribute.path().is_ident("inline")) {
        attributes.push(syn::parse_quote!(#[inline]));
    }
}

/// What a field may say.
const OF_FIELDS: &[&str] = &["rename", "unit", "event_time", "key", "default"];

impl FieldAttributes {
    /// Reads all `#[flow(..)]` of a field.
    pub(crate) fn of(field: &Field) -> Result<Self> {
        read(&field.attrs, OF_FIELDS)
    }

    /// Reads those of a variant, which has nothing but a name.
    pub(crate) fn rename_of(attributes: &[Attribute]) -> Result<Option<LitStr>> {
        Ok(read(attributes, &["rename"])?.name)
    }

    /// What fields are called in checkpoints: each has a name of its own, or none, in a tuple.
    pub(crate) fn names_of(fields: &Fields) -> Result<Vec<String>> {
        let mut names: Vec<String> = Vec::new();
        for field in fields {
            let renamed = FieldAttributes::of(field)?.name.map(|name| name.value());
            let Some(ident) = &field.ident else {
                names.push(String::new());
                continue;
            };
            let name = renamed.unwrap_or_else(|| ident.unraw().to_string());
            if names.contains(&name) {
                return Err(Error::new(ident.span(), format!("two fields are called `{name}` in checkpoints")));
            }
            names.push(name);
        }
        Ok(names)
    }
}

fn read(all: &[Attribute], known: &[&str]) -> Result<FieldAttributes> {
    let mut attributes = FieldAttributes::default();
    for attribute in all.iter().filter(|attribute| attribute.path().is_ident("flow")) {
        attribute.parse_nested_meta(|meta| {
            let word = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            match word.as_str() {
                // `name` is what `@name` of the language is called.
                "rename" | "name" => {
                    if attributes.name.replace(meta.value()?.parse()?).is_some() {
                        return Err(meta.error(format!("`{word}` is given twice")));
                    }
                }
                "unit" if known.contains(&"unit") => {
                    let unit: LitStr = meta.value()?.parse()?;
                    if attributes.unit.replace(unit_variant(&unit)?).is_some() {
                        return Err(meta.error("`unit` is given twice"));
                    }
                }
                "event_time" if known.contains(&"event_time") => attributes.event_time = Some(meta.path.span()),
                "key" if known.contains(&"key") => {}
                "default" if known.contains(&"default") => {
                    let value = if meta.input.peek(Token![=]) { Some(meta.value()?.parse()?) } else { None };
                    if attributes.default.replace(value).is_some() {
                        return Err(meta.error("`default` is given twice"));
                    }
                }
                _ => return Err(Error::new(meta.path.span(), unknown(&word, known))),
            }
            Ok(())
        })?;
    }
    Ok(attributes)
}

fn unit_variant(unit: &LitStr) -> Result<&'static str> {
    Ok(match unit.value().as_str() {
        "s" => "Seconds",
        "ms" => "Milliseconds",
        "us" => "Microseconds",
        "ns" => "Nanoseconds",
        other => {
            let text = format!("unknown unit `{other}`: use \"s\", \"ms\", \"us\" or \"ns\"");
            return Err(Error::new(unit.span(), text));
        }
    })
}

fn unknown(word: &str, known: &[&str]) -> String {
    let forms = |word: &&str| match *word {
        "rename" => "`rename = \"..\"`".to_owned(),
        "unit" => "`unit = \"..\"`".to_owned(),
        other => format!("`{other}`"),
    };
    let mut list: Vec<String> = known.iter().map(forms).collect();
    let last = list.pop().unwrap_or_default();
    let list = if list.is_empty() { format!("known is {last}") } else { format!("known are {} and {last}", list.join(", ")) };
    match known.iter().find(|known| near(word, known)) {
        Some(meant) => format!("unknown attribute `{word}`: did you mean `{meant}`? {list}"),
        None => format!("unknown attribute `{word}`: {list}"),
    }
}

/// Whether two words differ by a slip: at most two letters of five or more, one of less.
pub(crate) fn near(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = before + usize::from(x != y);
            before = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(before + 1);
        }
    }
    row[b.len()] <= if b.len() < 5 { 1 } else { 2 }
}
