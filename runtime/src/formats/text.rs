//! Text: every line is a row of one column.

use super::FormatSpec;

/// What the compiler knows of it.
pub static SPEC: FormatSpec = FormatSpec {
    name: "text",
    rust: "millstream::formats::TextFormat",
    options: &[],
    doc: "Plain text: every line, empty ones too, is a row of one column of type string.\n\nThe text is UTF-8. The line break, `\\n` or `\\r\\n`, is not part of the column.",
};

#[cfg(feature = "engine")]
pub use engine::{TextDecoder, TextEncoder, TextFormat};

#[cfg(feature = "engine")]
mod engine {
    use std::marker::PhantomData;

    use crate::error::{JobError, JobResult};
    use crate::formats::format::utf8;
    use crate::formats::{Decoder, Encoder, Format, Framing};
    use crate::options::Options;
    use crate::record::{Cell, CellWriter, FieldError, Record, Row};

    /// Plain text.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct TextFormat;

    /// Text has one column.
    fn check<T: Record>() -> JobResult<()> {
        let slots = T::slots();
        let texts = T::COLUMNS.iter().all(|column| matches!((column.ty)().as_str(), "string" | "string?"));
        if slots.len() <= 1 && texts {
            return Ok(());
        }
        Err(JobError::new(format!("the format `text` has one column of type string, but `{}` has {}", T::NAME, describe::<T>())))
    }

    fn describe<T: Record>() -> String {
        let columns: Vec<_> = T::COLUMNS.iter().map(|column| format!("{}: {}", column.name, (column.ty)())).collect();
        format!("{{ {} }}", columns.join(", "))
    }

    impl Format for TextFormat {
        type Decoder<T: Record> = TextDecoder<T>;
        type Encoder<T: Record> = TextEncoder<T>;

        fn from_options(_options: &Options) -> JobResult<Self> {
            Ok(TextFormat)
        }

        fn framing(&self) -> Framing {
            Framing::Lines
        }

        fn extension(&self) -> &'static str {
            "txt"
        }

        fn decoder<T: Record>(&self, _header: Option<&[u8]>) -> JobResult<TextDecoder<T>> {
            check::<T>().map(|()| TextDecoder(PhantomData))
        }

        fn encoder<T: Record>(&self) -> JobResult<TextEncoder<T>> {
            check::<T>().map(|()| TextEncoder(PhantomData))
        }
    }

    /// Reads lines.
    #[derive(Clone, Debug)]
    pub struct TextDecoder<T>(PhantomData<fn() -> T>);

    struct Line<'a>(&'a str);

    impl Row for Line<'_> {
        #[inline]
        fn cell(&self, _slot: usize) -> Cell<'_> {
            Cell::Text(self.0)
        }
    }

    impl<T: Record> Decoder<T> for TextDecoder<T> {
        #[inline]
        fn decode(&mut self, record: &[u8]) -> Result<Option<T>, FieldError> {
            T::decode_row(&Line(utf8(record)?), 0).map(Some)
        }
    }

    /// Writes lines.
    #[derive(Clone, Debug)]
    pub struct TextEncoder<T>(PhantomData<fn() -> T>);

    struct LineWriter<'a>(&'a mut Vec<u8>);

    impl CellWriter for LineWriter<'_> {
        fn null(&mut self) {}
        fn string(&mut self, text: &str) {
            self.0.extend_from_slice(text.as_bytes());
        }
        fn plain(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
            write(self.0);
        }
    }

    impl<T: Record> Encoder<T> for TextEncoder<T> {
        fn header(&mut self, _out: &mut Vec<u8>) {}

        fn encode(&mut self, row: &T, out: &mut Vec<u8>) {
            row.encode_row(&mut LineWriter(out));
            out.push(b'\n');
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::codegen::*;

        #[derive(Clone, Debug, PartialEq, Record)]
        struct Line {
            text: Str,
        }

        #[derive(Clone, Debug, PartialEq, Record)]
        struct Two {
            a: Str,
            b: i64,
        }

        #[test]
        fn lines_in_and_out() {
            let mut decoder = TextFormat.decoder::<Line>(None).unwrap();
            assert_eq!(decoder.decode("a, \"b\"".as_bytes()), Ok(Some(Line { text: "a, \"b\"".into() })));
            assert_eq!(decoder.decode(b""), Ok(Some(Line { text: "".into() })));
            assert!(decoder.decode(b"\xff").unwrap_err().reason().contains("UTF-8"));
            let mut out = Vec::new();
            TextFormat.encoder::<Line>().unwrap().encode(&Line { text: "x".into() }, &mut out);
            assert_eq!(out, b"x\n");
            let error = TextFormat.decoder::<Two>(None).unwrap_err();
            assert_eq!(
                error.to_string(),
                "the format `text` has one column of type string, but `Two` has { a: string, b: int64 }"
            );
        }
    }
}
