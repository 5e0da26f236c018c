//! What the bytes of a stored state are, read from the schema text beside them.
//!
//! The text is what `State::schema` wrote: `{carrier:string,delay:int32?}`, `list<(int64,string)>`. Whoever knows it can walk
//! the bytes without the Rust types: to convert them for a job whose types have changed, and to show them to people.

use std::borrow::Cow;
use std::fmt;

/// How deep types may be nested: more is no schema of ours.
const DEPTH: u32 = 64;

/// The layout of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One byte, 0 or 1.
    Bool,
    /// One byte, for a kind of change.
    ChangeKind,
    /// A zigzag varint, with the bits of its type.
    Signed(u32),
    /// A varint, with the bits of its type.
    Unsigned(u32),
    /// 4 or 8 bytes.
    Float(u32),
    /// A signed number of 16 bytes.
    Int128,
    /// An unsigned number of 16 bytes.
    Uint128,
    /// Days since 1970, a zigzag varint.
    Date,
    /// Microseconds, a zigzag varint.
    Time(TimeKind),
    /// 16 bytes.
    Uuid,
    /// A 0 and a zigzag varint, or a 1 and 16 bytes.
    Decimal {
        /// Digits.
        precision: u8,
        /// Digits behind the point.
        scale: u8,
    },
    /// A length and UTF-8.
    String,
    /// A length and compact JSON.
    Json,
    /// A 0, or a 1 and the value.
    Optional(Box<Layout>),
    /// A count and the elements.
    List(Box<Layout>),
    /// As a list, without repetitions.
    Set(Box<Layout>),
    /// A count, then keys and values in turn.
    Map(Box<Layout>, Box<Layout>),
    /// One after the other.
    Tuple(Vec<Layout>),
    /// One after the other, each with a name.
    Struct {
        /// What it is besides its fields: `sum`, `tumbling(60000000,0)`. Empty for a record.
        label: String,
        /// In the order of their bytes.
        fields: Vec<(String, Layout)>,
    },
    /// The number of a variant, then what it holds.
    Enum(Vec<(String, Layout)>),
    /// A field, and the bytes that it has in values that were stored without it. Only in what a job says of its own types.
    Defaulted(Box<Layout>, Vec<u8>),
}

/// What a number of microseconds stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeKind {
    /// Since midnight.
    Time,
    /// Since 1970, UTC.
    Timestamp,
    /// A length of time.
    Duration,
}

impl TimeKind {
    /// As the language calls it.
    pub fn name(self) -> &'static str {
        match self {
            TimeKind::Time => "time",
            TimeKind::Timestamp => "timestamp",
            TimeKind::Duration => "duration",
        }
    }
}

impl Layout {
    /// Reads a schema. None if it says nothing about the bytes: they can be used as they are or not at all.
    pub fn parse(schema: &str) -> Option<Self> {
        let mut parser = Parser { rest: schema };
        let layout = parser.layout(0)?;
        parser.rest.is_empty().then_some(layout)
    }
}

/// A schema as it is stored: without what fields are that old values do not have, which is for the job to say that reads them.
pub fn without_defaults(schema: &str) -> Cow<'_, str> {
    if !schema.contains(DEFAULT) {
        return Cow::Borrowed(schema);
    }
    let (mut plain, mut quoted, mut skipped) = (String::with_capacity(schema.len()), false, false);
    for sign in schema.chars() {
        quoted ^= sign == '`';
        skipped = !quoted && (sign == DEFAULT || skipped && sign.is_ascii_hexdigit());
        if !skipped {
            plain.push(sign);
        }
    }
    Cow::Owned(plain)
}

/// Between the type of a field and the bytes, in hexadecimal, that it has where it is not stored.
pub(crate) const DEFAULT: char = '=';

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, items: &[Layout]| {
            for (index, item) in items.iter().enumerate() {
                write!(f, "{}{item}", if index > 0 { ", " } else { "" })?;
            }
            Ok(())
        };
        match self {
            Layout::Bool => f.write_str("bool"),
            Layout::ChangeKind => f.write_str("change_kind"),
            Layout::Signed(bits) => write!(f, "int{bits}"),
            Layout::Unsigned(bits) => write!(f, "uint{bits}"),
            Layout::Float(bits) => write!(f, "float{bits}"),
            Layout::Int128 => f.write_str("int128"),
            Layout::Uint128 => f.write_str("uint128"),
            Layout::Date => f.write_str("date"),
            Layout::Time(kind) => f.write_str(kind.name()),
            Layout::Uuid => f.write_str("uuid"),
            Layout::Decimal { precision, scale } => write!(f, "decimal({precision}, {scale})"),
            Layout::String => f.write_str("string"),
            Layout::Json => f.write_str("json"),
            Layout::Optional(inner) => write!(f, "{inner}?"),
            Layout::List(inner) => write!(f, "list<{inner}>"),
            Layout::Set(inner) => write!(f, "set<{inner}>"),
            Layout::Map(key, value) => write!(f, "map<{key}, {value}>"),
            Layout::Tuple(items) => {
                f.write_str("(")?;
                list(f, items)?;
                f.write_str(")")
            }
            Layout::Struct { label, fields } => {
                write!(f, "{label}{}{{ ", if label.is_empty() { "" } else { " " })?;
                for (index, (name, field)) in fields.iter().enumerate() {
                    write!(f, "{}{name}: {field}", if index > 0 { ", " } else { "" })?;
                }
                f.write_str(" }")
            }
            Layout::Defaulted(inner, _) => inner.fmt(f),
            Layout::Enum(variants) => {
                let names: Vec<&str> = variants.iter().map(|(name, _)| name.as_str()).collect();
                write!(f, "enum({})", names.join(" | "))
            }
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn layout(&mut self, depth: u32) -> Option<Layout> {
        if depth > DEPTH {
            return None;
        }
        let mut layout = self.plain(depth)?;
        while self.eat("?") {
            layout = Layout::Optional(Box::new(layout));
        }
        Some(layout)
    }

    fn plain(&mut self, depth: u32) -> Option<Layout> {
        if self.eat("(") {
            return Some(Layout::Tuple(self.items(")", |parser| parser.layout(depth + 1))?));
        }
        if self.eat("{") {
            return self.fields(String::new(), depth);
        }
        let word = self.word();
        let inner = |parser: &mut Self| {
            let inner = parser.eat("<").then(|| parser.layout(depth + 1))??;
            parser.eat(">").then(|| Box::new(inner))
        };
        Some(match word {
            "bool" => Layout::Bool,
            "change_kind" => Layout::ChangeKind,
            "int8" | "int16" | "int32" | "int64" => Layout::Signed(word[3..].parse().ok()?),
            "uint8" | "uint16" | "uint32" | "uint64" => Layout::Unsigned(word[4..].parse().ok()?),
            "float32" | "float64" => Layout::Float(word[5..].parse().ok()?),
            "int128" => Layout::Int128,
            "uint128" => Layout::Uint128,
            "date" => Layout::Date,
            "time" => Layout::Time(TimeKind::Time),
            "timestamp" => Layout::Time(TimeKind::Timestamp),
            "duration" => Layout::Time(TimeKind::Duration),
            "uuid" => Layout::Uuid,
            "string" => Layout::String,
            "json" => Layout::Json,
            "decimal" => {
                self.rest = self.rest.strip_prefix('(')?;
                let precision = self.word().parse().ok()?;
                self.rest = self.rest.strip_prefix(',')?;
                let scale = self.word().parse().ok()?;
                self.rest = self.rest.strip_prefix(')')?;
                Layout::Decimal { precision, scale }
            }
            "list" if self.rest.starts_with('<') => Layout::List(inner(self)?),
            "set" if self.rest.starts_with('<') => Layout::Set(inner(self)?),
            "map" if self.rest.starts_with('<') => {
                self.eat("<");
                let key = self.layout(depth + 1)?;
                let value = self.eat(",").then(|| self.layout(depth + 1))??;
                self.eat(">").then(|| Layout::Map(Box::new(key), Box::new(value)))?
            }
            "enum" if self.rest.starts_with('(') => {
                self.eat("(");
                let mut variants = Vec::new();
                loop {
                    let name = self.name()?;
                    variants.push((name, self.layout(depth + 1)?));
                    if !self.eat("|") {
                        break;
                    }
                }
                self.eat(")").then_some(Layout::Enum(variants))?
            }
            "" => return None,
            label => {
                let mut label = label.to_owned();
                if self.rest.starts_with('(') {
                    let end = self.rest.find(')')? + 1;
                    label.push_str(&self.rest[..end]);
                    self.rest = &self.rest[end..];
                }
                self.eat("{").then(|| self.fields(label, depth))??
            }
        })
    }

    fn fields(&mut self, label: String, depth: u32) -> Option<Layout> {
        let fields = self.items("}", |parser| {
            let name = parser.name()?;
            let layout = parser.eat(":").then(|| parser.layout(depth + 1))??;
            Some((name, if parser.eat("=") { Layout::Defaulted(Box::new(layout), parser.bytes()?) } else { layout }))
        })?;
        Some(Layout::Struct { label, fields })
    }

    /// Bytes in hexadecimal.
    fn bytes(&mut self) -> Option<Vec<u8>> {
        let digits: Vec<u8> = self.word().chars().map(|digit| Some(digit.to_digit(16)? as u8)).collect::<Option<_>>()?;
        let (pairs, rest) = digits.as_chunks::<2>();
        rest.is_empty().then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
    }

    /// A name, in backquotes where it is no word.
    fn name(&mut self) -> Option<String> {
        if !self.eat("`") {
            return Some(self.word().to_owned()).filter(|word| !word.is_empty());
        }
        let mut name = String::new();
        loop {
            let end = self.rest.find('`')?;
            name.push_str(&self.rest[..end]);
            self.rest = &self.rest[end + 1..];
            if !self.eat("`") {
                return Some(name);
            }
            name.push('`');
        }
    }

    fn items<T>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Some(items);
        }
        loop {
            items.push(item(self)?);
            if self.eat(close) {
                return Some(items);
            }
            if !self.eat(",") {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_read() {
        let shown = |schema: &str| Layout::parse(schema).map(|layout| layout.to_string());
        assert_eq!(shown("{carrier:string,delay:int32?}").unwrap(), "{ carrier: string, delay: int32? }");
        assert_eq!(
            shown("keyed{watermark:int64,entries:map<(string,date),sum{total:int128,count:int64}>}").unwrap(),
            "keyed { watermark: int64, entries: map<(string, date), sum { total: int128, count: int64 }> }"
        );
        assert_eq!(shown("tumbling(60000000,0){panes:list<()>}").unwrap(), "tumbling(60000000,0) { panes: list<()> }");
        assert_eq!(shown("enum(Left(int64)|Right{a:decimal(10,2)}|None())").unwrap(), "enum(Left | Right | None)");
        assert_eq!(shown("{`a ``b``: c`:bool}").unwrap(), "{ a `b`: c: bool }");
    }

    #[test]
    fn what_fields_are_by_default_is_for_the_job_alone() {
        let schema = "{`a=00`:int64=0e,b:list<{c:bool=01}>=,d:string}";
        assert_eq!(without_defaults(schema), "{`a=00`:int64,b:list<{c:bool}>,d:string}");
        let Some(Layout::Struct { fields, .. }) = Layout::parse(schema) else { panic!("{:?}", Layout::parse(schema)) };
        assert_eq!(fields[0].1, Layout::Defaulted(Box::new(Layout::Signed(64)), vec![14]));
        assert_eq!(Layout::parse(schema).unwrap().to_string(), "{ a=00: int64, b: list<{ c: bool }>, d: string }");
        assert_eq!((Layout::parse("{a:bool=0}"), Layout::parse("{a:bool=0g}")), (None, None));
    }

    #[test]
    fn what_is_no_schema_is_none() {
        for text in ["", "int7", "list", "list<int64", "{a}", "{a:int64", "(int64,)", "sum", "int64 ", "enum()", "decimal(3)"] {
            assert_eq!(Layout::parse(text), None, "{text}");
        }
        assert_eq!(Layout::parse(&"(".repeat(100_000)), None);
    }
}
