//! Enums: columns whose values are one of a list of names.
//!
//! Generated code writes `flow_enum! { pub enum Status { Open = "open" } }` and gets all that a column needs. In data, in
//! text and in checkpoints a value is its name, so that the order of the names can change, and names can be added, without
//! touching what is stored. Values are sorted as they are written.

use super::FieldError;
use crate::formats::json::JsonReader;
use crate::value::{EvalError, Str};

/// What the helpers here need of an enum.
pub trait Enumeration: Copy + 'static {
    /// The name in the text.
    const NAME: &'static str;
    /// All values with their names.
    const VALUES: &'static [(&'static str, Self)];
}

/// The value of this name.
pub fn find<E: Enumeration>(name: &str) -> Option<E> {
    E::VALUES.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

#[cold]
fn wrong<E: Enumeration>() -> String {
    // The names, as long as they are a list that a person reads.
    let names: Vec<&str> = E::VALUES.iter().take(20).map(|(name, _)| *name).collect();
    let more = if E::VALUES.len() > names.len() { ", .." } else { "" };
    format!("is no {}: one of {}{more}", E::NAME, names.join(", "))
}

/// Reads the text form.
pub fn from_text<E: Enumeration>(text: &str) -> Result<E, FieldError> {
    find(text).ok_or_else(|| FieldError::value(text, wrong::<E>()))
}

/// Reads a JSON string.
pub fn from_json<E: Enumeration>(reader: &mut JsonReader<'_>) -> Result<E, FieldError> {
    from_text(&reader.string()?)
}

/// `cast(text, Status)`
pub fn from_value<E: Enumeration>(text: &str) -> Result<E, EvalError> {
    find(text).ok_or_else(|| EvalError::new(format!("`{text}` {}", wrong::<E>())))
}

/// The name in a checkpoint.
pub fn decode<E: Enumeration>(input: &mut crate::state::StateReader<'_>) -> Result<E, crate::state::StateError> {
    let name: Str = crate::state::State::decode(input)?;
    find(&name).ok_or_else(|| crate::state::StateError::new(format!("`{name}` {}", wrong::<E>())))
}

/// Does nothing: `#[derive(Record)]` of an enum calls it, so that rustc says at the enum, and there alone, that it is not `Copy`.
pub const fn enum_is_copied<E: Copy>() {}

/// Makes an enum a type of columns.
#[macro_export]
#[doc(hidden)]
macro_rules! flow_enum {
    ($(#[$attribute:meta])* pub enum $enum:ident = $name:literal { $($variant:ident = $text:literal),* $(,)? }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $enum {
            $(#[doc = $text] $variant),*
        }

        $crate::flow_enum_impls! { $enum = $name { $($variant = $text),* } }
    };
}

/// What a column needs of an enum that is there: `#[derive(Record)]` of an enum writes this.
///
/// That it is `Copy` is believed here (rustc does not look at a predicate with a lifetime before it is used), or each of these would say it.
#[macro_export]
#[doc(hidden)]
macro_rules! flow_enum_impls {
    ($enum:ident = $name:literal { $($variant:ident = $text:literal),* $(,)? }) => {
        const _: () = {
            use $crate::record::enumeration;
            use $crate::record::{CellWriter, FieldError, Value};
            use $crate::value::{EvalError, Str};

            #[inline]
            fn text_of(value: &$enum) -> &'static str {
                match value { $($enum::$variant => $text),* }
            }

            #[allow(trivial_bounds)]
            impl enumeration::Enumeration for $enum
            where
                for<'a> $enum: Copy,
            {
                const NAME: &'static str = $name;
                const VALUES: &'static [(&'static str, Self)] = &[$(($text, $enum::$variant)),*];
            }

            #[allow(trivial_bounds)]
            impl Value for $enum
            where
                for<'a> $enum: Copy,
            {
                fn type_text() -> String {
                    $name.to_owned()
                }
                #[inline]
                fn from_json(
                    reader: &mut $crate::formats::json::JsonReader<'_>,
                    _unit: Option<$crate::graph::TimeUnit>,
                ) -> Result<Self, FieldError> {
                    enumeration::from_json(reader)
                }
                #[inline]
                fn write_json(&self, out: &mut Vec<u8>) {
                    $crate::formats::json::write_string(text_of(self), out);
                }
                fn from_text(text: &str, _unit: Option<$crate::graph::TimeUnit>) -> Result<Self, FieldError> {
                    enumeration::from_text(text)
                }
                #[inline]
                fn write_row<W: CellWriter>(&self, out: &mut W) {
                    out.string(text_of(self));
                }
                fn column_text(&self) -> Option<Str> {
                    Some(text_of(self).into())
                }
            }

            #[allow(trivial_bounds)]
            impl $crate::state::State for $enum
            where
                for<'a> $enum: Copy,
            {
                #[inline]
                fn encode(&self, out: &mut Vec<u8>) {
                    $crate::state::State::encode(&Str::const_new(text_of(self)), out);
                }
                fn decode(input: &mut $crate::state::StateReader<'_>) -> Result<Self, $crate::state::StateError> {
                    enumeration::decode(input)
                }
                fn schema() -> String {
                    <Str as $crate::state::State>::schema()
                }
            }

            #[allow(trivial_bounds)]
            impl $crate::value::compare::Compare for $enum
            where
                for<'a> $enum: Copy,
            {
                #[inline]
                fn compare(&self, other: &Self) -> ::std::cmp::Ordering {
                    (*self as usize).cmp(&(*other as usize))
                }
            }

            impl $crate::value::text::Print for $enum {
                fn print(&self, out: &mut Str) {
                    out.push_str(text_of(self));
                }
            }

            #[allow(trivial_bounds)]
            impl $crate::value::cast::Cast<Str> for $enum
            where
                for<'a> $enum: Copy,
            {
                #[inline]
                fn cast(&self) -> Result<Str, EvalError> {
                    Ok(text_of(self).into())
                }
            }

            #[allow(trivial_bounds)]
            impl $crate::value::cast::Cast<$enum> for str
            where
                for<'a> $enum: Copy,
            {
                fn cast(&self) -> Result<$enum, EvalError> {
                    enumeration::from_value(self)
                }
            }

            #[allow(trivial_bounds)]
            impl $crate::params::FromParam for $enum
            where
                for<'a> $enum: Copy,
            {
                const EXAMPLE: &'static str = <Self as enumeration::Enumeration>::VALUES[0].0;
                fn type_name() -> String {
                    let names: Vec<&str> = <Self as enumeration::Enumeration>::VALUES.iter().map(|(name, _)| *name).collect();
                    format!("{} ({})", $name, names.join(", "))
                }
                fn from_param(text: &str) -> Option<Self> {
                    enumeration::find(text)
                }
            }
        };
    };
}

#[cfg(test)]
mod tests {
    use crate::codegen::*;
    use crate::formats::json::JsonReader;

    flow_enum! {
        pub enum Status = "Status" { Open = "open", InTransit = "in transit", Lost = "lost" }
    }

    #[derive(Clone, Debug, PartialEq, Record, State)]
    struct Order {
        status: Status,
        before: Option<Status>,
    }

    fn read(json: &str) -> Result<Order, FieldError> {
        Order::decode_json(&mut JsonReader::new(json))
    }

    #[test]
    fn values_are_their_names_in_data_text_and_state() {
        let order = read(r#"{"status":"in transit","before":"open"}"#).unwrap();
        assert_eq!(order, Order { status: Status::InTransit, before: Some(Status::Open) });
        let mut out = Vec::new();
        order.encode_json(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), r#"{"status":"in transit","before":"open"}"#);
        let mut stored = Vec::new();
        order.encode(&mut stored);
        assert!(stored.windows(10).any(|bytes| bytes == b"in transit"));
        assert_eq!(Order::decode(&mut StateReader::new(&stored)).unwrap(), order);
        assert_eq!(<Status as State>::schema(), <Str as State>::schema());
        assert_eq!(concat_text(&[&Status::Lost]), "lost");
        assert!(Status::Open < Status::InTransit && Status::InTransit < Status::Lost);
        assert_eq!(cast::cast::<Status, _>("lost"), Ok(Status::Lost));
        assert_eq!(cast::cast::<Str, _>(&Status::Lost), Ok("lost".into()));
    }

    #[test]
    fn what_is_none_of_them_is_an_error_that_lists_them() {
        let error = read(r#"{"status":"Open"}"#).unwrap_err();
        assert_eq!(error.to_string(), "field `status`: `Open` is no Status: one of open, in transit, lost");
        let mut stored = Vec::new();
        State::encode(&Str::from("gone"), &mut stored);
        let error = <Status as State>::decode(&mut StateReader::new(&stored)).unwrap_err();
        assert!(error.to_string().contains("`gone` is no Status"), "{error}");
        assert!(cast::cast::<Status, _>("x").is_err());
    }
}
