//! `json_type`, `json_keys`, `json_elements`, `to_json`

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new(
        "json",
        "json_type(value: json) -> string",
        "What a JSON value is: `object`, `array`, `string`, `number`, `boolean` or `null`.",
        &[("json_type(cast(\"[1]\", json))", "\"array\"")],
    ),
    FunctionSpec::new(
        "json",
        "json_keys(value: json) -> list<string>?",
        "The names of an object's members, each once, in the order in which they first come; null for other values.",
        &[("json_keys(cast(\"{\\\"b\\\": 1, \\\"a\\\": 2}\", json))", "[\"b\", \"a\"]")],
    ),
    FunctionSpec::new(
        "json",
        "json_elements(value: json) -> list<json>?",
        "The elements of a list; null for other values.",
        &[("list_length(json_elements(cast(\"[1, [2, 3]]\", json)))", "2")],
    ),
    FunctionSpec::new(
        "json",
        "to_json(value: T) -> json",
        "A value of any type as JSON, in the form in which it is written to JSON files: decimals and times as strings, bytes as base64.",
        &[
            ("to_json([1, 2])", "cast(\"[1, 2]\", json)"),
            ("json_text(to_json({ a: \"x\", b: 1.50d }))", "\"{\\\"a\\\":\\\"x\\\",\\\"b\\\":\\\"1.50\\\"}\""),
        ],
    ),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::formats::json::{JsonReader, write_string};
    use crate::record::{FieldError, Value};
    use crate::value::{Date, Decimal, Duration, Json, Str, Time, Timestamp, Uuid};

    /// What a JSON value is.
    pub fn json_type(value: &Json) -> Str {
        Str::const_new(match value.as_str().as_bytes().first() {
            Some(b'{') => "object",
            Some(b'[') => "array",
            Some(b'"') => "string",
            Some(b't' | b'f') => "boolean",
            Some(b'n') | None => "null",
            Some(_) => "number",
        })
    }

    /// The names of an object's members.
    pub fn json_keys(value: &Json) -> Option<Vec<Str>> {
        let keys = |json| -> Result<Vec<Str>, FieldError> {
            let (mut reader, mut keys) = (JsonReader::new(json), Vec::new());
            let mut seen = std::collections::BTreeSet::new();
            let mut next = reader.first_key()?;
            while let Some(key) = next {
                if seen.insert(key.to_string()) {
                    keys.push(Str::from(key));
                }
                reader.skip_value()?;
                next = reader.next_key()?;
            }
            Ok(keys)
        };
        keys(value.as_str()).ok()
    }

    /// The elements of a list.
    pub fn json_elements(value: &Json) -> Option<Vec<Json>> {
        let elements = |json| -> Result<Vec<Json>, FieldError> {
            let (mut reader, mut elements) = (JsonReader::new(json), Vec::new());
            let mut more = reader.first_element()?;
            while more {
                elements.push(Json::from_compact(reader.raw()?.into()));
                more = reader.next_element()?;
            }
            Ok(elements)
        };
        elements(value.as_str()).ok()
    }

    /// Values as expressions hold them that have a JSON form.
    pub trait ToJson {
        /// Appends the JSON form.
        fn write(&self, out: &mut Vec<u8>);
    }

    macro_rules! to_json {
        ($([$($generics:tt)*] $ty:ty),*) => {$(
            impl<$($generics)*> ToJson for $ty {
                #[inline]
                fn write(&self, out: &mut Vec<u8>) {
                    self.write_json(out);
                }
            }
        )*};
    }
    to_json!([] bool, [] i8, [] i16, [] i32, [] i64, [] u8, [] u16, [] u32, [] u64, [] f32, [] f64, [] Date, [] Time, [] Timestamp, [] Duration, [] Uuid);
    to_json!([const P: u8, const S: u8] Decimal<P, S>);

    impl ToJson for &str {
        fn write(&self, out: &mut Vec<u8>) {
            write_string(self, out);
        }
    }

    impl<T: Value> ToJson for &T {
        fn write(&self, out: &mut Vec<u8>) {
            self.write_json(out);
        }
    }

    impl<T: Value> ToJson for &[T] {
        fn write(&self, out: &mut Vec<u8>) {
            T::list_write_json(self, out);
        }
    }

    /// A value as JSON.
    pub fn to_json<T: ToJson>(value: T) -> Json {
        let mut out = Vec::new();
        value.write(&mut out);
        // What is written is UTF-8 and compact.
        Json::from_compact(Str::from_utf8_lossy(&out))
    }

    #[test]
    fn shapes() {
        let json = |text| Json::parse(text).unwrap();
        for (text, kind) in
            [("{}", "object"), ("[]", "array"), ("\"\"", "string"), ("-1", "number"), ("true", "boolean"), ("null", "null")]
        {
            assert_eq!(json_type(&json(text)), kind);
        }
        assert_eq!(json_keys(&json(r#"{"b":1,"a":{"c":1},"b":2}"#)), Some(vec!["b".into(), "a".into()]));
        assert_eq!((json_keys(&json("[1]")), json_elements(&json("{}"))), (None, None));
        assert_eq!(json_elements(&json("[1, [2]]")), Some(vec![json("1"), json("[2]")]));
    }

    #[test]
    fn values_are_written_as_in_files() {
        assert_eq!(to_json("a\"b").as_str(), r#""a\"b""#);
        assert_eq!((to_json(1.5).as_str(), to_json(Decimal::<3, 2>(150)).as_str()), ("1.5", "\"1.50\""));
        assert_eq!(to_json(&[Some(1), None][..]).as_str(), "[1,null]");
        assert_eq!(to_json(&b"foo"[..]).as_str(), "\"Zm9v\"");
        assert_eq!(to_json(&Json::parse("{ }").unwrap()).as_str(), "{}");
    }
}
