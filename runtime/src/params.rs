//! Params of a job: `param since: timestamp = @2026-01-01` becomes the flag `--since`, typed and in `--help`.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::error::{JobError, JobResult};

/// What a job says of one param.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamSpec {
    /// `since`
    pub name: &'static str,
    /// The type as the Flow language writes it: `timestamp`, `decimal(23, 3)`, `string?`.
    pub ty: &'static str,
    /// As the flag would be given; None: the flag must be given.
    pub default: Option<&'static str>,
    /// The doc comment.
    pub doc: &'static str,
}

/// The values of the params of a run.
#[derive(Clone, Debug, Default)]
pub struct ParamValues {
    values: BTreeMap<&'static str, String>,
    extensions: Extensions,
    checkpoints: bool,
}

/// Values that the program that starts a job hands to the functions that build it: one per type.
#[derive(Clone, Default)]
pub(crate) struct Extensions(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl Extensions {
    pub(crate) fn insert<T: Any + Send + Sync>(&mut self, value: Arc<T>) {
        self.0.insert(TypeId::of::<T>(), value);
    }
}

impl std::fmt::Debug for Extensions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} extensions", self.0.len())
    }
}

/// A type that a param can have.
pub trait FromParam: Sized {
    /// How the Flow language writes the type.
    fn type_name() -> String;
    /// Reads the text of a flag.
    fn from_param(text: &str) -> Option<Self>;
    /// An example of how it is written.
    const EXAMPLE: &'static str;
}

impl ParamValues {
    /// Takes the given values, adds defaults, and checks that nothing is missing or unknown.
    pub fn resolve(specs: &[ParamSpec], given: &BTreeMap<String, String>) -> JobResult<Self> {
        let mut values = BTreeMap::new();
        for spec in specs {
            match given.get(spec.name).map(String::as_str).or(spec.default) {
                Some(value) => {
                    values.insert(spec.name, value.to_owned());
                }
                None if spec.ty.ends_with('?') => {}
                None => {
                    let doc = if spec.doc.is_empty() { String::new() } else { format!(" ({})", spec.doc.trim()) };
                    return Err(JobError::usage(format!("the flag `--{} <{}>` is missing{doc}", flag_of(spec.name), spec.ty)));
                }
            }
        }
        Ok(ParamValues { values, extensions: Extensions::default(), checkpoints: false })
    }

    /// Whether the run takes checkpoints.
    pub(crate) fn takes_checkpoints(&self) -> bool {
        self.checkpoints
    }

    pub(crate) fn set_takes_checkpoints(&mut self, checkpoints: bool) {
        self.checkpoints = checkpoints;
    }

    pub(crate) fn with_extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    /// What the program that started the job handed over: see [`RunOptions::extension`](crate::RunOptions::extension).
    pub fn extension<T: Any + Send + Sync>(&self) -> JobResult<Arc<T>> {
        let found = self.extensions.0.get(&TypeId::of::<T>()).and_then(|value| value.clone().downcast().ok());
        found.ok_or_else(|| {
            JobError::new(format!("the job was started without a {} (RunOptions::extension)", std::any::type_name::<T>()))
        })
    }

    /// The value of a param that must have one.
    pub fn get<T: FromParam>(&self, name: &str) -> JobResult<T> {
        self.optional(name)?.ok_or_else(|| JobError::usage(format!("the flag `--{}` is missing", flag_of(name))))
    }

    /// The value of a param that may be left out.
    pub fn optional<T: FromParam>(&self, name: &str) -> JobResult<Option<T>> {
        let Some(text) = self.values.get(name) else { return Ok(None) };
        match T::from_param(text) {
            Some(value) => Ok(Some(value)),
            None => Err(JobError::usage(format!(
                "the flag `--{}` takes a value of type {}, like `{}`: `{text}` is none",
                flag_of(name),
                T::type_name(),
                T::EXAMPLE
            ))),
        }
    }
}

/// `$NAME`: an environment variable, read when the job starts.
pub fn environment(name: &str) -> JobResult<crate::value::Str> {
    match std::env::var(name) {
        Ok(value) => Ok(value.into()),
        Err(std::env::VarError::NotPresent) => {
            Err(JobError::usage(format!("the environment variable `{name}` is not set: the job reads it as `${name}`")))
        }
        Err(std::env::VarError::NotUnicode(_)) => {
            Err(JobError::usage(format!("the environment variable `{name}` is not valid UTF-8")))
        }
    }
}

/// The flag of a param: `max_delay` is `--max-delay`; both spellings are accepted.
pub fn flag_of(name: &str) -> String {
    name.replace('_', "-")
}

macro_rules! from_param_by_parsing {
    ($($ty:ty => $name:literal, $example:literal);* $(;)?) => {$(
        impl FromParam for $ty {
            const EXAMPLE: &'static str = $example;
            fn type_name() -> String {
                $name.to_owned()
            }
            fn from_param(text: &str) -> Option<Self> {
                text.parse().ok()
            }
        }
    )*};
}

from_param_by_parsing! {
    bool => "bool", "true";
    i8 => "int8", "5"; i16 => "int16", "5"; i32 => "int32", "5"; i64 => "int64", "5";
    u8 => "uint8", "5"; u16 => "uint16", "5"; u32 => "uint32", "5"; u64 => "uint64", "5";
    f32 => "float32", "1.5"; f64 => "float64", "1.5";
    String => "string", "text"; compact_str::CompactString => "string", "text";
}

macro_rules! from_param_by_parse {
    ($($ty:ty => $name:literal, $example:literal);* $(;)?) => {$(
        impl FromParam for $ty {
            const EXAMPLE: &'static str = $example;
            fn type_name() -> String {
                $name.to_owned()
            }
            fn from_param(text: &str) -> Option<Self> {
                <$ty>::parse(text).ok()
            }
        }
    )*};
}

from_param_by_parse! {
    crate::value::Timestamp => "timestamp", "2026-01-31T12:00:00Z";
    crate::value::Date => "date", "2026-01-31";
    crate::value::Time => "time", "12:30:00";
    crate::value::Duration => "duration", "1h30m";
    crate::value::Uuid => "uuid", "67e55044-10b1-426f-9247-bb680e5fe0c8";
    crate::value::Json => "json", "{\"a\":1}";
}

impl<const P: u8, const S: u8> FromParam for crate::value::Decimal<P, S> {
    const EXAMPLE: &'static str = "1";
    fn type_name() -> String {
        format!("decimal({P}, {S})")
    }
    fn from_param(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }
}

/// `--currencies EUR,USD`; a value with a comma stands in double quotes, in which `""` is one of them.
impl<T: FromParam> FromParam for Vec<T> {
    const EXAMPLE: &'static str = T::EXAMPLE;
    fn type_name() -> String {
        format!("list<{}>", T::type_name())
    }
    fn from_param(text: &str) -> Option<Self> {
        list_items(text)?.iter().map(|item| T::from_param(item)).collect()
    }
}

/// `--rates EUR=1.08,USD=1`; a key or value with a comma or `=` in it stands in double quotes, as items of lists do.
impl<K: FromParam + Ord, V: FromParam> FromParam for BTreeMap<K, V> {
    const EXAMPLE: &'static str = "key=value,key=value";
    fn type_name() -> String {
        format!("map<{}, {}>", K::type_name(), V::type_name())
    }
    fn from_param(text: &str) -> Option<Self> {
        let mut map = BTreeMap::new();
        for (key, value) in map_entries(text)? {
            if map.insert(K::from_param(&key)?, V::from_param(&value)?).is_some() {
                return None;
            }
        }
        Some(map)
    }
}

/// The entries of a map as a flag gives it. None: one has no `=`, a quote is open, or something stands behind one.
fn map_entries(text: &str) -> Option<Vec<(String, String)>> {
    let mut entries = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (key, behind) = part(rest, '=')?;
        let (value, behind) = part(behind.trim_start().strip_prefix('=')?.trim_start(), ',')?;
        entries.push((key, value));
        rest = match behind.trim_start() {
            "" => "",
            behind => Some(behind.strip_prefix(',')?.trim_start()).filter(|rest| !rest.is_empty())?,
        };
    }
    Some(entries)
}

/// What stands in front of a separator, in quotes or not, and what is behind it.
fn part(text: &str, separator: char) -> Option<(String, &str)> {
    match text.strip_prefix('"') {
        Some(quoted) => quoted_item(quoted),
        None => {
            let end = text.find(separator).unwrap_or(text.len());
            Some((text[..end].trim_end().to_owned(), &text[end..]))
        }
    }
}

/// The items of a list as a flag gives it. None: a quote is open, or something stands behind one.
fn list_items(text: &str) -> Option<Vec<String>> {
    let mut items = Vec::new();
    let mut rest = text.trim();
    if rest.is_empty() {
        return Some(items);
    }
    loop {
        let (item, behind) = part(rest, ',')?;
        items.push(item);
        let behind = behind.trim_start();
        if behind.is_empty() {
            return Some(items);
        }
        rest = behind.strip_prefix(',')?.trim_start();
    }
}

/// The item that a quote begins, and what stands behind its end.
fn quoted_item(text: &str) -> Option<(String, &str)> {
    let (mut item, mut rest) = (String::new(), text);
    loop {
        let end = rest.find('"')?;
        item.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(more) => {
                item.push('"');
                rest = more;
            }
            None => return Some((item, rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_separated_by_commas() {
        let strings = |text: &str| Vec::<String>::from_param(text);
        assert_eq!(strings(""), Some(vec![]));
        assert_eq!(strings("EUR"), Some(vec!["EUR".to_owned()]));
        assert_eq!(strings("EUR, USD ,,"), Some(vec!["EUR".to_owned(), "USD".to_owned(), String::new(), String::new()]));
        assert_eq!(strings(r#""a,b" , "c ""d""",e"#), Some(vec!["a,b".to_owned(), "c \"d\"".to_owned(), "e".to_owned()]));
        assert_eq!(strings(r#""open"#), None);
        assert_eq!(strings(r#""a" b"#), None);
        assert_eq!(Vec::<i64>::from_param("1,-2, 3"), Some(vec![1, -2, 3]));
        assert_eq!(Vec::<i64>::from_param("1,x"), None);
        assert_eq!(Vec::<i64>::from_param("1,"), None);
        assert_eq!(Vec::<i64>::type_name(), "list<int64>");
    }

    #[test]
    fn maps_are_entries_with_commas_between() {
        let read = |text: &str| BTreeMap::<String, i64>::from_param(text).map(|map| map.into_iter().collect::<Vec<_>>());
        let of = |entries: &[(&str, i64)]| Some(entries.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect());
        assert_eq!(read(""), of(&[]));
        assert_eq!(read("EUR=1, USD = 2"), of(&[("EUR", 1), ("USD", 2)]));
        assert_eq!(read("\"a,b\"=1,\"c=\"\"d\" = -2"), of(&[("a,b", 1), ("c=\"d", -2)]));
        for wrong in ["EUR", "EUR=", "EUR=1,", "EUR=x", "EUR=1,EUR=2", "\"EUR=1", "\"EUR\"x=1", "=1,"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(BTreeMap::<String, f64>::type_name(), "map<string, float64>");
    }

    #[test]
    fn a_value_that_is_none_is_shown_with_what_it_should_be() {
        let spec = |name, ty| ParamSpec { name, ty, default: None, doc: "" };
        let specs = [spec("rates", "map<string, float64>"), spec("shape", "json"), spec("only", "list<int64>")];
        let given =
            [("rates", "EUR=x"), ("shape", "{a: 1}"), ("only", "1,b")].map(|(name, text)| (name.to_owned(), text.to_owned()));
        let values = ParamValues::resolve(&specs, &given.into()).unwrap();
        let said = [
            values.get::<BTreeMap<String, f64>>("rates").unwrap_err().to_string(),
            values.get::<crate::value::Json>("shape").unwrap_err().to_string(),
            values.get::<Vec<i64>>("only").unwrap_err().to_string(),
        ];
        assert_eq!(
            said,
            [
                "the flag `--rates` takes a value of type map<string, float64>, like `key=value,key=value`: `EUR=x` is none",
                "the flag `--shape` takes a value of type json, like `{\"a\":1}`: `{a: 1}` is none",
                "the flag `--only` takes a value of type list<int64>, like `5`: `1,b` is none",
            ]
        );
    }
}
