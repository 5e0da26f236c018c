//! Cutting a stream of bytes into records.

use memchr::{memchr, memchr2};

/// How records end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// At a line break (`\n` or `\r\n`).
    Lines,
    /// At a line break outside of quotes. A quote opens only at the start of a field.
    Quoted {
        /// The quote, doubled inside of quotes.
        quote: u8,
        /// What stands between fields.
        delimiter: u8,
    },
}

impl Framing {
    /// Whether a reader may start behind any line break: where quotes may hold line breaks it may not.
    pub fn is_splittable(self) -> bool {
        self == Framing::Lines
    }
}

/// A whole record at the front of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its bytes, without the line break.
    pub length: usize,
    /// Its bytes with the line break.
    pub consumed: usize,
}

/// Finds records at the front of a buffer that grows. Never looks twice at a byte.
#[derive(Clone, Debug)]
pub struct Framer {
    framing: Framing,
    /// Bytes of the current record that have been looked at.
    scanned: usize,
    place: Place,
}

/// Where in a record with quotes the scan stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    FieldStart,
    Plain,
    Quoted,
    /// Behind a quote inside of quotes: the end of the field, or half of a doubled quote.
    QuoteInQuoted,
}

impl Framer {
    /// A framer at the start of a record.
    pub fn new(framing: Framing) -> Self {
        Framer { framing, scanned: 0, place: Place::FieldStart }
    }

    /// The first record of `buffer`, which begins where the last record ended. None: there is no whole record yet; call again
    /// with the same bytes and more.
    #[inline]
    pub fn next(&mut self, buffer: &[u8]) -> Option<Frame> {
        let end = match self.framing {
            Framing::Lines => match memchr(b'\n', &buffer[self.scanned..]) {
                Some(at) => Some(self.scanned + at),
                None => {
                    self.scanned = buffer.len();
                    None
                }
            },
            Framing::Quoted { quote, delimiter } => self.scan_quoted(buffer, quote, delimiter),
        }?;
        self.scanned = 0;
        self.place = Place::FieldStart;
        Some(Frame { length: content_length(&buffer[..end]), consumed: end + 1 })
    }

    /// What is left at the end of the input: a record without a line break, or None.
    pub fn rest(&mut self, buffer: &[u8]) -> Option<Frame> {
        self.scanned = 0;
        self.place = Place::FieldStart;
        (!buffer.is_empty()).then(|| Frame { length: content_length(buffer), consumed: buffer.len() })
    }

    fn scan_quoted(&mut self, buffer: &[u8], quote: u8, delimiter: u8) -> Option<usize> {
        let mut at = self.scanned;
        let mut place = self.place;
        let end = loop {
            let Some(&byte) = buffer.get(at) else { break None };
            place = match place {
                Place::FieldStart if byte == quote => Place::Quoted,
                Place::Quoted => {
                    // Inside of quotes only the next quote counts.
                    match memchr(quote, &buffer[at..]) {
                        Some(length) => at += length,
                        None => {
                            at = buffer.len();
                            break None;
                        }
                    }
                    Place::QuoteInQuoted
                }
                Place::QuoteInQuoted if byte == quote => Place::Quoted,
                _ if byte == b'\n' => break Some(at),
                _ if byte == delimiter => Place::FieldStart,
                _ => {
                    // Inside of a plain field only its end counts.
                    match memchr2(delimiter, b'\n', &buffer[at..]) {
                        Some(length) => {
                            at += length;
                            place = Place::Plain;
                            continue;
                        }
                        None => {
                            at = buffer.len();
                            place = Place::Plain;
                            break None;
                        }
                    }
                }
            };
            at += 1;
        };
        self.scanned = at;
        self.place = place;
        end
    }
}

/// Without a carriage return at the end.
#[inline]
fn content_length(record: &[u8]) -> usize {
    record.strip_suffix(b"\r").unwrap_or(record).len()
}

/// How many bytes of byte order mark stand at the start of a file; a mark of another encoding than UTF-8 is an error.
/// `start` is the first four bytes of the file, or all if it is shorter.
pub fn byte_order_mark(start: &[u8]) -> Result<usize, String> {
    let other = match start {
        [0xef, 0xbb, 0xbf, ..] => return Ok(3),
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => "UTF-32",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16",
        _ => return Ok(0),
    };
    Err(format!("the file begins with a {other} byte order mark, expected UTF-8: convert it first (iconv -f {other} -t UTF-8)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: Framing = Framing::Quoted { quote: b'"', delimiter: b',' };

    /// All records, with the bytes coming in pieces of this size.
    fn records(framing: Framing, text: &str, piece: usize) -> Vec<String> {
        let (mut framer, mut records, mut start) = (Framer::new(framing), Vec::new(), 0);
        let bytes = text.as_bytes();
        let take = |start: &mut usize, frame: Frame, records: &mut Vec<String>| {
            records.push(text[*start..*start + frame.length].to_owned());
            *start += frame.consumed;
        };
        for end in (0..=bytes.len()).step_by(piece).chain([bytes.len()]) {
            while start <= end
                && let Some(frame) = framer.next(&bytes[start..end])
            {
                take(&mut start, frame, &mut records);
            }
        }
        if let Some(frame) = framer.rest(&bytes[start..]) {
            take(&mut start, frame, &mut records);
        }
        records
    }

    /// C40 A: the last record needs no line break. Pieces of any size give the same records.
    #[test]
    fn records_do_not_depend_on_how_bytes_arrive() {
        for piece in [1, 2, 3, 7, 1000] {
            assert_eq!(records(Framing::Lines, "a\r\n\nb\nc", piece), ["a", "", "b", "c"]);
            assert_eq!(records(Framing::Lines, "\"a\nb\"\n", piece), ["\"a", "b\""]);
            let text = "1,\"a\nb\",c\r\n2,\"say \"\"hi\n\"\"\"\n3,x\"y\n\"\",\n4,\"a\"b\n5,\"open\nto the end";
            let expected = ["1,\"a\nb\",c", "2,\"say \"\"hi\n\"\"\"", "3,x\"y", "\"\",", "4,\"a\"b", "5,\"open\nto the end"];
            assert_eq!(records(CSV, text, piece), expected);
        }
        assert_eq!(records(CSV, "", 1), [""; 0]);
    }

    /// C36
    #[test]
    fn byte_order_marks() {
        assert_eq!(byte_order_mark(b"\xef\xbb\xbf{"), Ok(3));
        assert_eq!(byte_order_mark(b""), Ok(0));
        assert_eq!(byte_order_mark(b"id\n1"), Ok(0));
        assert!(byte_order_mark(b"\xff\xfei\0").unwrap_err().contains("UTF-16 byte order mark, expected UTF-8"));
        assert!(byte_order_mark(b"\xfe\xff\0i").unwrap_err().contains("UTF-16"));
    }
}
