//! Rust types that the language knows by name.

use millstream_runtime::graph::{Passing, Ty};

/// What a Rust type is in the language.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    pub ty: Ty,
    /// Generated code holds the very same Rust type, so that nothing is converted.
    pub same: bool,
}

impl Known {
    /// A list of it; bytes, if it is a byte.
    pub fn list(self) -> Ty {
        match self.ty {
            Ty::UInt8 => Ty::Bytes,
            ty => Ty::List(Box::new(ty)),
        }
    }

    /// How a value of it is handed over.
    pub fn passing(&self) -> Passing {
        if self.same && self.ty.is_copy() { Passing::AsIs } else { Passing::Value }
    }
}

/// A type without arguments.
pub fn built_in(name: &str) -> Option<Known> {
    let ty = match name {
        "bool" => Ty::Bool,
        "i8" => Ty::Int8,
        "i16" => Ty::Int16,
        "i32" => Ty::Int32,
        "i64" => Ty::Int64,
        "u8" => Ty::UInt8,
        "u16" => Ty::UInt16,
        "u32" => Ty::UInt32,
        "u64" => Ty::UInt64,
        "f32" => Ty::Float32,
        "f64" => Ty::Float64,
        "String" | "Str" => Ty::String,
        "Bytes" => Ty::Bytes,
        "Date" => Ty::Date,
        "Time" => Ty::Time,
        "Timestamp" => Ty::Timestamp,
        "Duration" => Ty::Duration,
        "Uuid" => Ty::Uuid,
        "Json" => Ty::Json,
        _ => return None,
    };
    Some(Known { ty, same: name != "String" })
}

/// Whether a path leads to a type that is meant by its name alone: of the standard library those that the language has too.
pub fn is_ours(path: &str) -> bool {
    const STANDARD: &[&str] = &[
        "std::collections::BTreeMap",
        "alloc::collections::BTreeMap",
        "std::string::String",
        "alloc::string::String",
        "std::vec::Vec",
        "alloc::vec::Vec",
        "std::option::Option",
        "core::option::Option",
    ];
    path.starts_with("millstream::") || STANDARD.contains(&path)
}

/// What to write instead of a type that the language does not know.
pub fn instead(name: &str) -> &'static str {
    by_name(name).unwrap_or("write one of the types of columns, or a struct of this file with `#[derive(Clone, Record)]`")
}

/// As [`instead`], for types that are known elsewhere.
pub fn by_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "usize" | "u128" | "NonZeroU64" => "write `u64`",
        "isize" | "i128" => "write `i64`, or `Decimal<38, 0>` for more digits",
        "char" | "Cow" | "PathBuf" | "CompactString" => "write `String`",
        "str" => "write `String`, or `&str` for a parameter",
        "HashMap" => "write `Map<K, V>`, a `BTreeMap`: its order is the same every time",
        "HashSet" | "BTreeSet" | "VecDeque" | "LinkedList" => "write `Vec<T>`",
        "Box" | "Rc" | "Arc" => "write the type that is inside",
        "DateTime" | "NaiveDateTime" | "OffsetDateTime" | "SystemTime" | "Instant" => {
            "write `Timestamp` of `millstream::prelude`: microseconds since the epoch"
        }
        "NaiveDate" => "write `Date` of `millstream::prelude`",
        "NaiveTime" => "write `Time` of `millstream::prelude`",
        "TimeDelta" => "write `Duration` of `millstream::prelude`",
        "BigDecimal" => "write `Decimal<38, 10>` of `millstream::prelude`",
        "Value" => "write `Json` of `millstream::prelude`",
        "Result" => "a `Result` can only be the whole result of a function",
        _ => return None,
    })
}
