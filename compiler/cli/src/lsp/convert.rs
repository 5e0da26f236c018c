//! Places: bytes of a text and lines with columns in UTF-16; paths and URIs.

use std::str::FromStr;

use lsp_types::{Position, Range, Uri};

/// A text and where its lines begin.
pub struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Lines { text, starts }
    }

    /// The place of a byte; one within a character counts as its beginning.
    pub fn position(&self, offset: u32) -> Position {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let column: usize = self.text[self.starts[line]..offset].chars().map(char::len_utf16).sum();
        Position::new(line as u32, column as u32)
    }

    pub fn range(&self, start: u32, end: u32) -> Range {
        Range::new(self.position(start), self.position(end))
    }

    /// The byte of a place; one behind the end of its line is that end.
    pub fn offset(&self, position: Position) -> u32 {
        let Some(start) = self.starts.get(position.line as usize).copied() else { return self.text.len() as u32 };
        let end = self.starts.get(position.line as usize + 1).copied().unwrap_or(self.text.len());
        let line = self.text[start..end].trim_end_matches(['\n', '\r']);
        let mut left = position.character as usize;
        for (at, c) in line.char_indices() {
            if left < c.len_utf16() {
                return (start + at) as u32;
            }
            left -= c.len_utf16();
        }
        (start + line.len()) as u32
    }
}

/// The path of a file; of what is no file, the whole URI.
pub fn path(uri: &Uri) -> String {
    let Some(rest) = uri.as_str().strip_prefix("file://") else { return uri.as_str().to_owned() };
    // A host may stand before the path.
    let path = decoded(&rest[rest.find('/').unwrap_or(0)..]);
    // `/c:/work`
    match path.as_bytes() {
        [b'/', drive, b':', ..] if drive.is_ascii_alphabetic() => path[1..].to_owned(),
        _ => path,
    }
}

/// The URI of a path. None: it cannot be one.
pub fn uri(path: &str) -> Option<Uri> {
    let absolute = std::path::absolute(path).ok()?;
    let path = absolute.to_string_lossy().replace('\\', "/");
    let slash = if path.starts_with('/') { "" } else { "/" };
    let encoded: String = path.bytes().map(encoded).collect();
    Uri::from_str(&format!("file://{slash}{encoded}")).ok()
}

fn encoded(byte: u8) -> String {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b':' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    }
}

fn decoded(text: &str) -> String {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        match (bytes[at], digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_in_utf16() {
        let text = "a🦀é\r\nx\n";
        let lines = Lines::new(text);
        for (offset, line, column) in [(0, 0, 0), (1, 0, 1), (5, 0, 3), (7, 0, 4), (9, 1, 0), (10, 1, 1), (11, 2, 0)] {
            let position = Position::new(line, column);
            assert_eq!(lines.position(offset), position, "{offset}");
            assert_eq!(lines.offset(position), offset, "{position:?}");
        }
        // Behind the end of a line, of the text, and within a character.
        assert_eq!(lines.offset(Position::new(0, 99)), 7);
        assert_eq!(lines.offset(Position::new(9, 9)), 11);
        assert_eq!(lines.offset(Position::new(0, 2)), 1);
        assert_eq!(lines.position(3), Position::new(0, 1));
    }

    #[test]
    fn paths_go_through_uris() {
        for name in ["/a/b c.flow", "/ä/100%.flow", "/a/[x]#?.flow"] {
            assert_eq!(path(&uri(name).unwrap()), name);
        }
        assert_eq!(path(&Uri::from_str("file:///c%3A/a.flow").unwrap()), "c:/a.flow");
        assert_eq!(path(&Uri::from_str("untitled:Untitled-1").unwrap()), "untitled:Untitled-1");
    }
}
