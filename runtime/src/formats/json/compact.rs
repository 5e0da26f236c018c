//! Checks a JSON text in full and drops the white space between its parts.

use super::reader::MAX_DEPTH;
use crate::record::FieldError;
use crate::value::Str;

/// What may come next.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Value,
    /// Behind `[`: a value or `]`.
    FirstElement,
    /// Behind `{`: a key or `}`.
    FirstKey,
    /// Behind `,` in an object.
    Key,
    Colon,
    /// Behind a value: `,` or the end of what is open.
    After,
}

/// The compact form of a JSON text. Iterative: depth is no danger, and limited.
pub(crate) fn compact(text: &str) -> Result<Str, FieldError> {
    let mut reader = super::JsonReader::new(text);
    let mut out = Str::with_capacity(text.len());
    let (mut kinds, mut open, mut state) = (0u128, 0u32, State::Value);
    loop {
        let byte = reader.peek();
        if state == State::After && open == 0 {
            reader.end()?;
            return Ok(out);
        }
        state = match (state, byte) {
            (State::Value | State::FirstElement, b'{' | b'[') => {
                open += 1;
                if open > MAX_DEPTH {
                    return Err(FieldError::new(format!("the depth limit of {MAX_DEPTH} is exceeded")));
                }
                kinds = kinds << 1 | (byte == b'{') as u128;
                out.push(byte as char);
                reader.advance();
                if byte == b'{' { State::FirstKey } else { State::FirstElement }
            }
            (State::FirstElement, b']') | (State::FirstKey, b'}') => {
                (kinds, open) = (kinds >> 1, open - 1);
                out.push(byte as char);
                reader.advance();
                State::After
            }
            (State::After, b']' | b'}') if (kinds & 1 == 1) == (byte == b'}') => {
                (kinds, open) = (kinds >> 1, open - 1);
                out.push(byte as char);
                reader.advance();
                State::After
            }
            (State::After, b',') => {
                out.push(',');
                reader.advance();
                if kinds & 1 == 1 { State::Key } else { State::Value }
            }
            (State::FirstKey | State::Key, b'"') => {
                string(&mut reader, &mut out)?;
                State::Colon
            }
            (State::Colon, b':') => {
                out.push(':');
                reader.advance();
                State::Value
            }
            (State::Value | State::FirstElement, b'"') => {
                string(&mut reader, &mut out)?;
                State::After
            }
            (State::Value | State::FirstElement, _) => {
                out.push_str(reader.raw()?);
                State::After
            }
            (State::FirstKey | State::Key, _) => return Err(reader.syntax("a name in quotes")),
            (State::Colon, _) => return Err(reader.syntax("`:`")),
            (State::After, _) => return Err(reader.syntax(if kinds & 1 == 1 { "`,` or `}`" } else { "`,` or `]`" })),
        };
    }
}

/// Copies a string as it stands, once its escapes are known to be good.
fn string(reader: &mut super::JsonReader<'_>, out: &mut Str) -> Result<(), FieldError> {
    let mut raw = reader.clone();
    reader.string()?;
    out.push_str(raw.raw()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_serde_on_what_is_json() {
        for text in [
            "{}",
            "[]",
            " { \"a\" : [ 1 , -2.5e3 , \"x\\n\\u00e9\" , null , true ] , \"b\" : { } } ",
            "1",
            "\"a\"",
            "null",
            "[[[]]]",
            "0",
            "-0",
            "",
            "{",
            "[1,]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "[1 2]",
            "{1:2}",
            "tru",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"a",
            "[}",
            "{]",
            "{} {}",
            "nul",
            "[,1]",
            "{,}",
            "'a'",
            "NaN",
            "{\"a\" 1}",
            "\"\\u12\"",
        ] {
            let expected = serde_json::from_str::<serde_json::Value>(text);
            match compact(text) {
                Ok(compact) => {
                    assert_eq!(serde_json::from_str::<serde_json::Value>(&compact).ok(), expected.ok(), "{text}");
                    assert!(!compact.contains(' '), "{text}");
                }
                Err(error) => assert!(expected.is_err(), "{text}: {error}"),
            }
        }
        assert!(compact(&"[".repeat(100_000)).unwrap_err().reason().contains("depth limit"));
        let deep = "[".repeat(128) + &"]".repeat(128);
        assert_eq!(compact(&deep).unwrap(), deep);
    }
}
