//! Stored values as text, for people.

use std::fmt::Write as _;

use super::layout::{Layout, TimeKind};
use super::walk::{Cursor, Damaged};
use crate::graph::text::{date_text, decimal_text, duration_text, time_text, timestamp_text};

/// The value at the cursor, in the language's own form: `{ carrier: "AA", delay: null }`.
pub fn value(cursor: &mut Cursor<'_>, layout: &Layout) -> Result<String, Damaged> {
    let mut out = String::new();
    write_value(cursor, layout, &mut out)?;
    Ok(out)
}

fn write_value(cursor: &mut Cursor<'_>, layout: &Layout, out: &mut String) -> Result<(), Damaged> {
    let number = |out: &mut String, number: &dyn std::fmt::Display| {
        let _ = write!(out, "{number}");
    };
    match layout {
        Layout::Bool => number(out, &cursor.flag()?),
        Layout::ChangeKind => out.push_str(match cursor.byte()? {
            0 => "insert",
            1 => "update_before",
            2 => "update_after",
            3 => "delete",
            _ => return Err(Damaged),
        }),
        Layout::Signed(_) => number(out, &cursor.signed()?),
        Layout::Unsigned(_) => number(out, &cursor.varint()?),
        Layout::Float(32) => number(out, &f32::from_le_bytes(array(cursor)?)),
        Layout::Float(_) => number(out, &f64::from_le_bytes(array(cursor)?)),
        Layout::Int128 => number(out, &i128::from_le_bytes(array(cursor)?)),
        Layout::Uint128 => number(out, &u128::from_le_bytes(array(cursor)?)),
        Layout::Date => out.push_str(&date_text(cursor.signed()?)),
        Layout::Time(TimeKind::Timestamp) => out.push_str(&timestamp_text(cursor.signed()?)),
        Layout::Time(TimeKind::Duration) => out.push_str(&duration_text(cursor.signed()?)),
        Layout::Time(TimeKind::Time) => out.push_str(&time_text(cursor.signed()?)),
        Layout::Uuid => {
            let digits = format!("{:032x}", u128::from_le_bytes(array(cursor)?));
            let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &digits[range]);
            out.push_str(&parts.join("-"));
        }
        Layout::Decimal { scale, .. } => {
            let value = if cursor.flag()? { i128::from_le_bytes(array(cursor)?) } else { i128::from(cursor.signed()?) };
            out.push_str(&decimal_text(value, *scale));
        }
        Layout::String => {
            let text = String::from_utf8_lossy(cursor.bytes()?);
            let _ = write!(out, "{text:?}");
        }
        Layout::Json => out.push_str(&String::from_utf8_lossy(cursor.bytes()?)),
        Layout::Optional(inner) => {
            if cursor.flag()? {
                write_value(cursor, inner, out)?;
            } else {
                out.push_str("null");
            }
        }
        Layout::List(inner) | Layout::Set(inner) => {
            let count = cursor.count(inner)?;
            list(out, "[", "]", count, |out| write_value(cursor, inner, out))?;
        }
        Layout::Defaulted(inner, _) => write_value(cursor, inner, out)?,
        Layout::Map(key, inner) => {
            let count = cursor.count(key)?;
            list(out, "{", "}", count, |out| {
                write_value(cursor, key, out)?;
                out.push_str(": ");
                write_value(cursor, inner, out)
            })?;
        }
        Layout::Tuple(items) => {
            let mut items = items.iter();
            let count = items.len() as u64;
            list(out, "(", ")", count, |out| items.next().map_or(Ok(()), |item| write_value(cursor, item, out)))?;
        }
        // What may go by itself: most of it has no time set.
        Layout::Struct { label, fields } if label == "expiring" => {
            let [(_, inner), (_, until)] = fields.as_slice() else { return Err(Damaged) };
            write_value(cursor, inner, out)?;
            if cursor.clone().flag()? {
                out.push_str(" until ");
            }
            let mark = out.len();
            write_value(cursor, until, out)?;
            if out[mark..] == *"null" {
                out.truncate(mark);
            }
        }
        Layout::Struct { label, fields } => {
            if !label.is_empty() {
                let _ = write!(out, "{label} ");
            }
            let mut fields = fields.iter();
            let count = fields.len() as u64;
            list(out, "{ ", " }", count, |out| {
                let Some((name, field)) = fields.next() else { return Ok(()) };
                let _ = write!(out, "{name}: ");
                write_value(cursor, field, out)
            })?;
        }
        Layout::Enum(variants) => {
            let number = usize::try_from(cursor.varint()?).map_err(|_| Damaged)?;
            let (name, inner) = variants.get(number).ok_or(Damaged)?;
            out.push_str(name);
            if !matches!(inner, Layout::Tuple(items) if items.is_empty()) {
                write_value(cursor, inner, out)?;
            }
        }
    }
    Ok(())
}

fn array<const N: usize>(cursor: &mut Cursor<'_>) -> Result<[u8; N], Damaged> {
    cursor.take(N)?.try_into().map_err(|_| Damaged)
}

fn list(
    out: &mut String,
    open: &str,
    close: &str,
    count: u64,
    mut item: impl FnMut(&mut String) -> Result<(), Damaged>,
) -> Result<(), Damaged> {
    out.push_str(open);
    for index in 0..count {
        if index > 0 {
            out.push_str(", ");
        }
        item(out)?;
    }
    out.push_str(close);
    Ok(())
}
