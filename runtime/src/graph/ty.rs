//! The types of the Flow language, shared by the compiler, the graphs and the runtime's descriptors.

use std::fmt;

/// A type of the Flow language.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float32,
    Float64,
    /// `decimal(precision, scale)`, precision 1 to 38, scale 0 to precision.
    Decimal {
        precision: u8,
        scale: u8,
    },
    String,
    Bytes,
    /// Days since 1970-01-01.
    Date,
    /// Microseconds since midnight.
    Time,
    /// Microseconds since the epoch, UTC.
    Timestamp,
    /// Microseconds.
    Duration,
    Uuid,
    Json,
    List(Box<Ty>),
    Map(Box<Ty>, Box<Ty>),
    Record(Schema),
    /// One of a list of names.
    Enum(EnumType),
    /// A value that may be null. Never nested.
    Optional(Box<Ty>),
    /// The type of a bare `null`; coerces to any optional type.
    Null,
    /// What a mistake leaves behind; equal to every type, so that one mistake is reported once.
    Error,
}

/// `enum Status { open, shipped }`: its values in the order in which they are written, which is how they are sorted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EnumType {
    pub name: String,
    /// As they stand in the data.
    pub values: Vec<String>,
}

/// The named columns of a record or of a stream, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schema {
    /// The name in the text (`record Flight`), where there is one.
    pub name: Option<String>,
    pub fields: Vec<Field>,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    pub name: String,
    pub ty: Ty,
    /// How the column is called in the outside data, where that differs (`@name("order-id")`).
    pub external: Option<String>,
    /// What a number in the outside data means for a timestamp (`@unit("ms")`).
    pub unit: Option<TimeUnit>,
}

/// What a number stands for where a timestamp is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

impl TimeUnit {
    /// All units.
    pub const ALL: [TimeUnit; 4] = [TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds, TimeUnit::Nanoseconds];

    /// As written in the text: `s`, `ms`, `us`, `ns`.
    pub fn word(self) -> &'static str {
        match self {
            TimeUnit::Seconds => "s",
            TimeUnit::Milliseconds => "ms",
            TimeUnit::Microseconds => "us",
            TimeUnit::Nanoseconds => "ns",
        }
    }
}

impl Field {
    /// A column whose outside name is its own name.
    pub fn new(name: impl Into<String>, ty: Ty) -> Self {
        Field { name: name.into(), ty, external: None, unit: None }
    }

    /// The name in the outside data.
    pub fn external_name(&self) -> &str {
        self.external.as_deref().unwrap_or(&self.name)
    }
}

impl Schema {
    /// An unnamed schema of these columns.
    pub fn anonymous(fields: Vec<Field>) -> Self {
        Schema { name: None, fields }
    }

    /// The column of this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Ty {
    /// `T?` of `T`; already optional, null and error types stay as they are.
    pub fn optional(self) -> Ty {
        match self {
            Ty::Optional(_) | Ty::Null | Ty::Error => self,
            other => Ty::Optional(Box::new(other)),
        }
    }

    /// `T` of `T?`; any other type is returned as it is.
    pub fn required(&self) -> &Ty {
        match self {
            Ty::Optional(inner) => inner,
            other => other,
        }
    }

    pub fn is_optional(&self) -> bool {
        matches!(self, Ty::Optional(_) | Ty::Null)
    }

    pub fn is_integer(&self) -> bool {
        self.integer_bits().is_some()
    }

    /// (signed, bits) of an integer type.
    pub fn integer_bits(&self) -> Option<(bool, u32)> {
        Some(match self {
            Ty::Int8 => (true, 8),
            Ty::Int16 => (true, 16),
            Ty::Int32 => (true, 32),
            Ty::Int64 => (true, 64),
            Ty::UInt8 => (false, 8),
            Ty::UInt16 => (false, 16),
            Ty::UInt32 => (false, 32),
            Ty::UInt64 => (false, 64),
            _ => return None,
        })
    }

    pub fn is_float(&self) -> bool {
        matches!(self, Ty::Float32 | Ty::Float64)
    }

    pub fn is_decimal(&self) -> bool {
        matches!(self, Ty::Decimal { .. })
    }

    pub fn is_numeric(&self) -> bool {
        self.is_integer() || self.is_float() || self.is_decimal()
    }

    /// Whether Rust copies a value of this type for free (no heap behind it).
    pub fn is_copy(&self) -> bool {
        match self {
            Ty::String | Ty::Bytes | Ty::Json | Ty::List(_) | Ty::Map(..) | Ty::Record(_) => false,
            Ty::Optional(inner) => inner.is_copy(),
            _ => true,
        }
    }

    /// Whether values can be compared with `<`, sorted, and used as a key.
    pub fn is_ordered(&self) -> bool {
        match self {
            Ty::Json | Ty::Map(..) => false,
            Ty::List(inner) | Ty::Optional(inner) => inner.is_ordered(),
            Ty::Record(schema) => schema.fields.iter().all(|field| field.ty.is_ordered()),
            _ => true,
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Ty::Bool => "bool",
            Ty::Int8 => "int8",
            Ty::Int16 => "int16",
            Ty::Int32 => "int32",
            Ty::Int64 => "int64",
            Ty::UInt8 => "uint8",
            Ty::UInt16 => "uint16",
            Ty::UInt32 => "uint32",
            Ty::UInt64 => "uint64",
            Ty::Float32 => "float32",
            Ty::Float64 => "float64",
            Ty::Decimal { precision, scale } => return write!(f, "decimal({precision}, {scale})"),
            Ty::String => "string",
            Ty::Bytes => "bytes",
            Ty::Date => "date",
            Ty::Time => "time",
            Ty::Timestamp => "timestamp",
            Ty::Duration => "duration",
            Ty::Uuid => "uuid",
            Ty::Json => "json",
            Ty::List(inner) => return write!(f, "list<{inner}>"),
            Ty::Map(key, value) => return write!(f, "map<{key}, {value}>"),
            Ty::Enum(of) => return f.write_str(&of.name),
            Ty::Record(Schema { name: Some(name), .. }) => return f.write_str(name),
            Ty::Record(schema) => return schema.fmt(f),
            Ty::Optional(inner) => return write!(f, "{inner}?"),
            Ty::Null => "null",
            Ty::Error => "?",
        };
        f.write_str(name)
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{ ")?;
        for (index, field) in self.fields.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{}: {}", field.name, field.ty)?;
        }
        f.write_str(" }")
    }
}
