//! JSON lines as a format.

use std::marker::PhantomData;

use super::JsonReader;
use crate::error::JobResult;
use crate::formats::format::utf8;
use crate::formats::{Decoder, Encoder, Format, Framing};
use crate::options::Options;
use crate::record::{FieldError, Record};

/// JSON, one object a line.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonFormat;

impl Format for JsonFormat {
    type Decoder<T: Record> = JsonDecoder<T>;
    type Encoder<T: Record> = JsonEncoder<T>;

    fn from_options(_options: &Options) -> JobResult<Self> {
        Ok(JsonFormat)
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn extension(&self) -> &'static str {
        "json"
    }

    fn decoder<T: Record>(&self, _header: Option<&[u8]>) -> JobResult<JsonDecoder<T>> {
        Ok(JsonDecoder(PhantomData))
    }

    fn encoder<T: Record>(&self) -> JobResult<JsonEncoder<T>> {
        Ok(JsonEncoder(PhantomData))
    }
}

/// Reads JSON lines.
#[derive(Clone, Debug)]
pub struct JsonDecoder<T>(PhantomData<fn() -> T>);

impl<T: Record> Decoder<T> for JsonDecoder<T> {
    #[inline]
    fn decode(&mut self, record: &[u8]) -> Result<Option<T>, FieldError> {
        let text = utf8(record)?;
        let mut reader = JsonReader::new(text);
        if reader.peek() == 0 && text.trim_ascii().is_empty() {
            return Ok(None);
        }
        let row = T::decode_json(&mut reader)?;
        reader.end()?;
        Ok(Some(row))
    }
}

/// Writes JSON lines.
#[derive(Clone, Debug)]
pub struct JsonEncoder<T>(PhantomData<fn() -> T>);

impl<T: Record> Encoder<T> for JsonEncoder<T> {
    fn header(&mut self, _out: &mut Vec<u8>) {}

    #[inline]
    fn encode(&mut self, row: &T, out: &mut Vec<u8>) {
        row.encode_json(out);
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codegen::*;

    #[derive(Clone, Debug, PartialEq, Record)]
    struct Row {
        id: i64,
        w: Option<i32>,
    }

    /// C44: one bad row leaves its neighbours alone, and each message says what is wrong.
    #[test]
    fn a_bad_row_does_not_poison_its_neighbours() {
        let lines: &[&[u8]] = &[
            b"{\"id\":1,\"w\":10}",
            b"{\"id\":2iii,\"w\":20}",
            b"{\"id\":3,\"w\":004}",
            b"{\"id\":4,\"w\":40}",
            b"{\"id\":5,\"s\":\"\xff\xfe\"}",
            b"{\"id\":6,\"w\":\"x\"}",
            b"{\"id\":7,",
            b"{\"id\":8,\"w\":80}",
            b"[{\"id\":9}]",
            b"null",
            b"",
            b"{\"id\":10,\"w\":100}{\"id\":11,\"w\":110}",
            b"{\"id\":12,\"w\":120}",
        ];
        let mut decoder = JsonFormat.decoder::<Row>(None).unwrap();
        let (mut ids, mut errors) = (Vec::new(), Vec::new());
        for line in lines {
            match decoder.decode(line) {
                Ok(row) => ids.extend(row.map(|row| row.id)),
                Err(error) => errors.push(error.to_string()),
            }
        }
        assert_eq!(ids, [1, 4, 8, 12]);
        assert_eq!(
            errors,
            [
                "field `id`: `2iii` is not a number",
                "field `w`: `004` is not a number: leading zeros",
                "`{\"id\":5,\"s\":\"\u{fffd}\u{fffd}\"}` is not valid UTF-8 at byte 13",
                "field `w`: `\"x\"` is not an integer",
                "not valid JSON at byte 8: expected a name in quotes, found the end of the record",
                "`[{\"id\":9}]` is not an object",
                "`null` is not an object",
                "not valid JSON at byte 17: expected the end of the record: one value a line, found `{`",
            ]
        );
    }

    /// C67: a deep row is an error, and the next one is read.
    #[test]
    fn a_deep_row_is_an_error() {
        let mut decoder = JsonFormat.decoder::<Row>(None).unwrap();
        let deep = "{\"a\":".repeat(100_000) + "1" + &"}".repeat(100_000);
        assert!(decoder.decode(deep.as_bytes()).unwrap_err().reason().contains("depth limit"));
        assert_eq!(decoder.decode(b"{\"id\":1}\r"), Ok(Some(Row { id: 1, w: None })));
    }
}
