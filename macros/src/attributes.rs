//! `#[flow(..)]` on a field.

use syn::spanned::Spanned;
use syn::{Error, Field, LitStr, Result};

/// What the attributes of a field say.
#[derive(Default)]
pub(crate) struct FieldAttributes {
    /// The name in the outside data.
    pub name: Option<LitStr>,
    /// The variant of `TimeUnit`.
    pub unit: Option<&'static str>,
}

impl FieldAttributes {
    /// Reads all `#[flow(..)]` of a field.
    pub(crate) fn of(field: &Field) -> Result<Self> {
        let mut attributes = FieldAttributes::default();
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("flow")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("name") {
                    if attributes.name.replace(meta.value()?.parse()?).is_some() {
                        return Err(meta.error("`name` is given twice"));
                    }
                } else if meta.path.is_ident("unit") {
                    let unit: LitStr = meta.value()?.parse()?;
                    let variant = match unit.value().as_str() {
                        "s" => "Seconds",
                        "ms" => "Milliseconds",
                        "us" => "Microseconds",
                        "ns" => "Nanoseconds",
                        other => {
                            return Err(Error::new(
                                unit.span(),
                                format!("unknown unit `{other}`: use \"s\", \"ms\", \"us\" or \"ns\""),
                            ));
                        }
                    };
                    if attributes.unit.replace(variant).is_some() {
                        return Err(meta.error("`unit` is given twice"));
                    }
                } else if !meta.path.is_ident("event_time") {
                    let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
                    return Err(Error::new(
                        meta.path.span(),
                        format!("unknown attribute `{name}`: known are `name = \"..\"`, `unit = \"..\"` and `event_time`"),
                    ));
                }
                Ok(())
            })?;
        }
        Ok(attributes)
    }
}
