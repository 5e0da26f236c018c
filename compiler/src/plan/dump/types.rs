//! Types and streams as text. Unlike the short form, nested records show their columns, so that pruning is visible.

use millstream_runtime::graph::text::duration_text;
use millstream_runtime::graph::{Changelog, Schema, StreamType, TimeColumn, Ty};

/// `Bid { price: int64 }?`
pub fn ty(ty: &Ty) -> String {
    match ty {
        Ty::Optional(inner) => format!("{}?", self::ty(inner)),
        Ty::List(inner) => format!("list<{}>", self::ty(inner)),
        Ty::Map(key, value) => format!("map<{}, {}>", self::ty(key), self::ty(value)),
        Ty::Record(schema) => self::schema(schema),
        other => other.to_string(),
    }
}

/// `Flight { carrier: string, dep_delay: int32? }`, without the name for an unnamed one.
pub fn schema(schema: &Schema) -> String {
    let columns: Vec<_> = schema.fields.iter().map(|field| format!("{}: {}", field.name, ty(&field.ty))).collect();
    let name = schema.name.as_deref().map(|name| format!("{name} ")).unwrap_or_default();
    if columns.is_empty() { format!("{name}{{}}") } else { format!("{name}{{ {} }}", columns.join(", ")) }
}

/// `stream, time placed_at`, `table, key (carrier, day)`
pub fn kind(stream: &StreamType) -> String {
    let mut out = match &stream.changelog {
        Changelog::Append => "stream".to_owned(),
        Changelog::Table { key: Some(key) } if key.is_empty() => "table of one row".to_owned(),
        Changelog::Table { key: Some(key) } => format!("table, key ({})", key.join(", ")),
        Changelog::Table { key: None } => "table, key: the whole row".to_owned(),
    };
    if let Some(column) = &stream.time {
        out.push_str(", time ");
        out.push_str(&time(column));
    }
    out
}

/// `placed_at`, `start + 59m59s999ms999us`
pub fn time(time: &TimeColumn) -> String {
    match time.offset {
        0 => time.column.clone(),
        offset if offset < 0 => format!("{} - {}", time.column, duration_text(offset.saturating_neg())),
        offset => format!("{} + {}", time.column, duration_text(offset)),
    }
}
