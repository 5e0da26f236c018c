//! `json_parse`, `json_value`, `json_extract`, `json_text`, `json_length`

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new("json", "json_parse(text: string) -> json?", "The JSON value that a text holds; null if it is not JSON.", &[("json_text(json_parse(\"{ \\\"a\\\": 1 }\"))", "\"{\\\"a\\\":1}\"")]),
    FunctionSpec::new(
        "json",
        "json_value(value: json, path: string) -> string?",
        "A text, number or bool inside of a JSON value, as text; null where the path leads to nothing, to null, to a list or to an object.\n\nA path is `$` (which \
         may be left out), `.name` or `[\"name\"]`, and `[0]`. Of members with one name the last counts, as in reading records.",
        &[("json_value(json_parse(\"{\\\"a\\\": [1, 2.50]}\"), \"$.a[1]\")", "\"2.50\"")],
    )
    .fallible()
    .checked("path", super::json_path::check),
    FunctionSpec::new(
        "json",
        "json_extract(value: json, path: string) -> json?",
        "A JSON value inside of another; null where the path leads to nothing. A path is that of `json_value`.",
        &[("json_text(json_extract(json_parse(\"{\\\"a\\\": [1, 2]}\"), \"a\"))", "\"[1,2]\"")],
    )
    .fallible()
    .checked("path", super::json_path::check),
    FunctionSpec::new("json", "json_text(value: json) -> string", "A JSON value as compact text.", &[("json_text(json_parse(\"[1, 2]\"))", "\"[1,2]\"")]),
    FunctionSpec::new("json", "json_length(value: json) -> int64?", "The number of elements of a list or of members of an object; null for other values.", &[("json_length(json_parse(\"[1, 2]\"))", "2")]),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::formats::json::JsonReader;
    use crate::functions::json_path::{Step, step};
    use crate::record::FieldError;
    use crate::value::{EvalError, Json, Str};

    /// The JSON value that a text holds.
    pub fn json_parse(text: &str) -> Option<Json> {
        Json::parse(text).ok()
    }

    /// A scalar inside of a JSON value.
    pub fn json_value(value: &Json, path: &str) -> Result<Option<Str>, EvalError> {
        let Some(found) = find(value.as_str(), path)? else { return Ok(None) };
        Ok(match found.as_bytes().first() {
            Some(b'"') => JsonReader::new(found).string().ok().map(Str::from),
            Some(b'{' | b'[' | b'n') | None => None,
            Some(_) => Some(found.into()),
        })
    }

    /// A JSON value inside of another.
    pub fn json_extract(value: &Json, path: &str) -> Result<Option<Json>, EvalError> {
        Ok(find(value.as_str(), path)?.map(|found| Json::from_compact(found.into())))
    }

    /// Compact text.
    pub fn json_text(value: &Json) -> Str {
        value.as_str().into()
    }

    /// The number of elements or members.
    pub fn json_length(value: &Json) -> Option<i64> {
        let mut reader = JsonReader::new(value.as_str());
        let count = |reader: &mut JsonReader<'_>| -> Result<i64, FieldError> {
            let mut count = 0;
            if reader.peek() == b'{' {
                let mut next = reader.first_key()?;
                while next.is_some() {
                    count += 1;
                    reader.skip_value()?;
                    next = reader.next_key()?;
                }
            } else {
                let mut more = reader.first_element()?;
                while more {
                    count += 1;
                    reader.skip_value()?;
                    more = reader.next_element()?;
                }
            }
            Ok(count)
        };
        count(&mut reader).ok()
    }

    /// The text of the value that the path leads to.
    fn find<'a>(json: &'a str, path: &str) -> Result<Option<&'a str>, EvalError> {
        let mut rest = path.strip_prefix('$').unwrap_or(path);
        let mut found = Some(json);
        let mut first = rest.len() == path.len();
        // The path is read to its end, so that a mistake in it shows for every value.
        while let Some(step) = step(&mut rest, first).map_err(EvalError::new)? {
            first = false;
            found = found.and_then(|json| match step {
                Step::Member(name) => member(json, name).ok().flatten(),
                Step::Element(index) => element(json, index).ok().flatten(),
            });
        }
        Ok(found)
    }

    /// Of members with one name the last counts.
    fn member<'a>(json: &'a str, name: &str) -> Result<Option<&'a str>, FieldError> {
        let (mut reader, mut found) = (JsonReader::new(json), None);
        let mut next = reader.first_key()?;
        while let Some(key) = next {
            let value = reader.raw()?;
            if key == name {
                found = Some(value);
            }
            next = reader.next_key()?;
        }
        Ok(found)
    }

    fn element(json: &str, index: u64) -> Result<Option<&str>, FieldError> {
        let mut reader = JsonReader::new(json);
        let (mut more, mut at) = (reader.first_element()?, 0);
        while more {
            let value = reader.raw()?;
            if at == index {
                return Ok(Some(value));
            }
            at += 1;
            more = reader.next_element()?;
        }
        Ok(None)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn value(json: &str, path: &str) -> Option<String> {
            json_value(&Json::parse(json).unwrap(), path).unwrap().map(String::from)
        }

        /// C45: the rule for members with one name is that of records; numbers keep their text.
        #[test]
        fn paths_lead_to_scalars() {
            let json = r#"{"a":{"b":[1,{"c d":"x\n\u00e9"},null,true]},"n":9007199254740993,"n":2.50,"e":{}}"#;
            for (path, expected) in [
                ("$.a.b[0]", Some("1")),
                ("a.b[1][\"c d\"]", Some("x\né")),
                ("a['b'][1]['c d']", Some("x\né")),
                ("$.a.b[2]", None),
                ("$.a.b[3]", Some("true")),
                ("$.a.b[9]", None),
                ("$.a.b", None),
                ("$", None),
                ("n", Some("2.50")),
                ("x.y[0]", None),
                ("e.x", None),
                ("n.x", None),
            ] {
                assert_eq!(value(json, path).as_deref(), expected, "{path}");
            }
            assert_eq!(value("\"a\"", "$").as_deref(), Some("a"));
            for path in ["$a[", "$..a", "a[x]", "a[\"b]", "$.", "a[0]b"] {
                assert!(json_value(&Json::default(), path).is_err(), "{path}");
            }
        }

        #[test]
        fn other_functions() {
            let json = json_parse(" { \"a\" : [ 1 , 2 ] } ").unwrap();
            assert_eq!(json_text(&json), "{\"a\":[1,2]}");
            assert_eq!(json_extract(&json, "a").unwrap().unwrap().as_str(), "[1,2]");
            assert_eq!(
                (json_length(&json), json_length(&json_parse("[]").unwrap()), json_length(&json_parse("1").unwrap())),
                (Some(1), Some(0), None)
            );
            assert_eq!(json_parse("{"), None);
        }
    }
}
