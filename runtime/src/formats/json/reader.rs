//! A pull parser for one JSON value in memory: what is not asked for is skipped fast.
//!
//! Grammar: RFC 8259, with two liberties for speed. Values that are skipped are checked only for balanced brackets, closed
//! strings and well-formed tokens at their places; and raw control characters inside of strings are let through. Nesting
//! deeper than 128 is an error.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use crate::record::FieldError;

/// How deep objects and arrays may nest.
pub(crate) const MAX_DEPTH: u32 = 128;

/// What is wrong with a null where another value has to be.
const NULL: &str = "is not allowed: the column may not be null";

/// Reads one JSON value from front to back.
#[derive(Clone, Debug)]
pub struct JsonReader<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

impl<'a> JsonReader<'a> {
    /// A reader at the start of a text.
    pub fn new(text: &'a str) -> Self {
        JsonReader { text, at: 0, depth: 0 }
    }

    /// The byte at the cursor; 0 at the end.
    #[inline]
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    fn skip_space(&mut self) {
        while matches!(self.byte(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    /// The first byte of the next value, which tells what it is; 0 at the end.
    #[inline]
    pub fn peek(&mut self) -> u8 {
        self.skip_space();
        self.byte()
    }

    /// A mistake in the grammar, here.
    #[cold]
    pub(super) fn syntax(&self, expected: &str) -> FieldError {
        let found = match self.text[self.floor()..].chars().next() {
            None => "the end of the record".to_owned(),
            Some(c) => format!("`{}`", c.escape_debug()),
        };
        FieldError::new(format!("not valid JSON at byte {}: expected {expected}, found {found}", self.at))
    }

    /// The cursor, moved back to the start of the character it stands in.
    fn floor(&self) -> usize {
        self.text.floor_char_boundary(self.at)
    }

    /// A value that is not of the wanted type, which starts at `start`.
    #[cold]
    pub(crate) fn wrong(&self, start: usize, reason: impl Into<Cow<'static, str>>) -> FieldError {
        let bytes = self.text.as_bytes();
        let end = match bytes.get(start) {
            Some(b'"') => string_end(self.text, start + 1).map_or(self.text.len(), |end| end + 1),
            Some(b'{' | b'[') => {
                let mut reader = JsonReader { text: self.text, at: start, depth: self.depth };
                if reader.skip_value().is_ok() { reader.at } else { self.text.len() }
            }
            _ => bytes[start..]
                .iter()
                .position(|byte| matches!(byte, b',' | b'}' | b']' | b' '))
                .map_or(bytes.len(), |end| start + end),
        };
        let reason = if &self.text[start..end] == "null" { Cow::Borrowed(NULL) } else { reason.into() };
        FieldError::value(&self.text[start..end], reason)
    }

    /// Where the next value starts, for [`wrong`](Self::wrong).
    #[inline]
    pub(crate) fn start(&mut self) -> usize {
        self.skip_space();
        self.at
    }

    /// Passes over the byte at the cursor, which is no white space and not inside of a character.
    pub(super) fn advance(&mut self) {
        self.at += 1;
    }

    /// Checks that only white space is left.
    #[inline]
    pub fn end(&mut self) -> Result<(), FieldError> {
        self.skip_space();
        if self.at == self.text.len() { Ok(()) } else { Err(self.syntax("the end of the record: one value a line")) }
    }

    #[inline]
    fn enter(&mut self) -> Result<(), FieldError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            Err(FieldError::new(format!("the depth limit of {MAX_DEPTH} is exceeded at byte {}", self.at)))
        } else {
            Ok(())
        }
    }

    /// Takes a `{` and the first key.
    #[inline]
    pub fn first_key(&mut self) -> Result<Option<Cow<'a, str>>, FieldError> {
        if self.peek() != b'{' {
            let start = self.at;
            return Err(match self.wrong(start, "is not an object") {
                _ if start == self.text.len() => self.syntax("an object"),
                // Outside of any column there is no column to speak of.
                error if self.depth == 0 => FieldError::value(error.raw(), "is not an object"),
                error => error,
            });
        }
        self.enter()?;
        self.at += 1;
        if self.peek() == b'}' {
            self.at += 1;
            self.depth -= 1;
            return Ok(None);
        }
        self.key().map(Some)
    }

    /// Takes the `,` and the next key, or the `}`.
    #[inline]
    pub fn next_key(&mut self) -> Result<Option<Cow<'a, str>>, FieldError> {
        match self.peek() {
            b',' => {
                self.at += 1;
                self.skip_space();
                self.key().map(Some)
            }
            b'}' => {
                self.at += 1;
                self.depth -= 1;
                Ok(None)
            }
            _ => Err(self.syntax("`,` or `}`")),
        }
    }

    #[inline]
    fn key(&mut self) -> Result<Cow<'a, str>, FieldError> {
        if self.byte() != b'"' {
            return Err(self.syntax("a name in quotes"));
        }
        let start = self.at + 1;
        // Names are short: a plain loop is faster than a vector search.
        let rest = &self.text.as_bytes()[start..];
        let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'));
        let key = match length {
            Some(length) if rest[length] == b'"' => {
                self.at = start + length + 1;
                Cow::Borrowed(&self.text[start..start + length])
            }
            _ => self.string()?,
        };
        self.skip_space();
        if self.byte() != b':' {
            return Err(self.syntax("`:`"));
        }
        self.at += 1;
        Ok(key)
    }

    /// Takes a `[`; true if an element follows.
    #[inline]
    pub fn first_element(&mut self) -> Result<bool, FieldError> {
        let start = self.start();
        if self.byte() != b'[' {
            return Err(self.wrong(start, "is not a list"));
        }
        self.enter()?;
        self.at += 1;
        if self.peek() == b']' {
            self.at += 1;
            self.depth -= 1;
            return Ok(false);
        }
        Ok(true)
    }

    /// Takes the `,` before the next element, or the `]`.
    #[inline]
    pub fn next_element(&mut self) -> Result<bool, FieldError> {
        match self.peek() {
            b',' => {
                self.at += 1;
                Ok(true)
            }
            b']' => {
                self.at += 1;
                self.depth -= 1;
                Ok(false)
            }
            _ => Err(self.syntax("`,` or `]`")),
        }
    }

    /// Takes a `null` if it is next.
    #[inline]
    pub fn null(&mut self) -> Result<bool, FieldError> {
        if self.peek() != b'n' {
            return Ok(false);
        }
        self.word("null").map(|()| true)
    }

    /// `true` or `false`.
    #[inline]
    pub fn boolean(&mut self) -> Result<bool, FieldError> {
        match self.peek() {
            b't' => self.word("true").map(|()| true),
            b'f' => self.word("false").map(|()| false),
            _ => Err(self.wrong(self.at, "is not true or false")),
        }
    }

    #[inline]
    fn word(&mut self, word: &'static str) -> Result<(), FieldError> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes())
            && ends_token(self.text.as_bytes().get(self.at + word.len()))
        {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.wrong(self.at, "is not a JSON value"))
        }
    }

    /// A string, without its quotes and escapes.
    #[inline]
    pub fn string(&mut self) -> Result<Cow<'a, str>, FieldError> {
        let start = self.start();
        if self.byte() != b'"' {
            return Err(self.wrong(start, "is not a string"));
        }
        let start = start + 1;
        match memchr2(b'"', b'\\', &self.text.as_bytes()[start..]) {
            Some(length) if self.text.as_bytes()[start + length] == b'"' => {
                self.at = start + length + 1;
                Ok(Cow::Borrowed(&self.text[start..start + length]))
            }
            Some(length) => self.escaped(start, start + length).map(Cow::Owned),
            None => Err(self.unclosed(start)),
        }
    }

    #[cold]
    fn unclosed(&mut self, start: usize) -> FieldError {
        self.at = self.text.len();
        FieldError::value(&self.text[start - 1..], "is a string without an end")
    }

    /// A string with escapes. It starts at `start`, and what stands before `first`, the first backslash, is plain.
    fn escaped(&mut self, start: usize, first: usize) -> Result<String, FieldError> {
        let Some(end) = string_end(self.text, start) else { return Err(self.unclosed(start)) };
        let bytes = &self.text.as_bytes()[..end];
        let mut out = Vec::with_capacity(end - start);
        out.extend_from_slice(&bytes[start..first]);
        let mut at = first;
        while at < end {
            if bytes[at] != b'\\' {
                // Escapes often stand close to each other: eight bytes at a time are faster than a search for the next one.
                match bytes[at..].first_chunk::<8>() {
                    Some(chunk) => {
                        let plain = plain_bytes(u64::from_le_bytes(*chunk));
                        // Eight bytes are copied in one go; those too many are taken back.
                        out.extend_from_slice(chunk);
                        out.truncate(out.len() - 8 + plain);
                        at += plain;
                    }
                    None => {
                        out.push(bytes[at]);
                        at += 1;
                    }
                }
                continue;
            }
            let unescaped = match bytes.get(at + 1) {
                Some(byte @ (b'"' | b'\\' | b'/')) => *byte,
                Some(b'n') => b'\n',
                Some(b't') => b'\t',
                Some(b'r') => b'\r',
                Some(b'b') => 8,
                Some(b'f') => 12,
                Some(b'u') => {
                    let escape = unicode_escape(&bytes[at + 2..]);
                    let (c, length) = escape.ok_or_else(|| self.wrong(start - 1, "has a broken \\u escape"))?;
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    at += 2 + length;
                    continue;
                }
                _ => return Err(self.wrong(start - 1, "has an unknown escape")),
            };
            out.push(unescaped);
            at += 2;
        }
        self.at = end + 1;
        // Whole characters in, whole characters out: the error cannot happen.
        String::from_utf8(out).map_err(|_| self.wrong(start - 1, "is not valid UTF-8"))
    }

    /// The text of a number, which is checked for its form.
    #[inline]
    pub fn number(&mut self) -> Result<&'a str, FieldError> {
        let start = self.start();
        let bytes = self.text.as_bytes();
        let mut at = start + (self.byte() == b'-') as usize;
        let digits = |at: &mut usize| {
            let from = *at;
            while bytes.get(*at).is_some_and(u8::is_ascii_digit) {
                *at += 1;
            }
            *at > from
        };
        let leading_zero = bytes.get(at) == Some(&b'0');
        let whole = at;
        let mut well_formed = digits(&mut at) && !(leading_zero && at > whole + 1);
        if bytes.get(at) == Some(&b'.') {
            at += 1;
            well_formed &= digits(&mut at);
        }
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            at += 1;
            at += matches!(bytes.get(at), Some(b'+' | b'-')) as usize;
            well_formed &= digits(&mut at);
        }
        if !well_formed || !ends_token(bytes.get(at)) {
            let reason = match self.byte() {
                _ if leading_zero && at > whole + 1 => "is not a number: leading zeros",
                _ => "is not a number",
            };
            return Err(self.wrong(start, reason));
        }
        self.at = at;
        Ok(&self.text[start..at])
    }

    /// An integer of up to 18 digits, where the next value is one; anything else is left in place.
    #[inline]
    pub(crate) fn short_integer(&mut self) -> Option<i64> {
        self.skip_space();
        let bytes = self.text.as_bytes();
        let negative = self.byte() == b'-';
        let start = self.at + negative as usize;
        let (mut value, mut at) = (0i64, start);
        while let Some(byte) = bytes.get(at)
            && byte.is_ascii_digit()
            && at < start + 18
        {
            value = value * 10 + (byte - b'0') as i64;
            at += 1;
        }
        let leading_zero = bytes.get(start) == Some(&b'0') && at > start + 1;
        if at == start || leading_zero || !ends_token(bytes.get(at)) {
            return None;
        }
        self.at = at;
        Some(if negative { -value } else { value })
    }

    /// Passes over one value of any kind.
    #[inline]
    pub fn skip_value(&mut self) -> Result<(), FieldError> {
        match self.peek() {
            b'"' => self.skip_string(),
            b'{' | b'[' => self.skip_container(),
            _ => self.skip_scalar(),
        }
    }

    #[inline]
    fn skip_string(&mut self) -> Result<(), FieldError> {
        match string_end(self.text, self.at + 1) {
            Some(end) => {
                self.at = end + 1;
                Ok(())
            }
            None => Err(self.unclosed(self.at + 1)),
        }
    }

    #[inline]
    fn skip_scalar(&mut self) -> Result<(), FieldError> {
        if self.short_integer().is_some() {
            return Ok(());
        }
        match self.byte() {
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            b'-' | b'0'..=b'9' => self.number().map(|_| ()),
            _ => Err(self.syntax("a value")),
        }
    }

    /// Passes over an object or array: bit `n` of `kinds` says whether the n-th open one is an object.
    fn skip_container(&mut self) -> Result<(), FieldError> {
        let (mut kinds, mut open) = (0u128, 0u32);
        loop {
            self.skip_space();
            match self.byte() {
                byte @ (b'{' | b'[') => {
                    open += 1;
                    if self.depth + open > MAX_DEPTH {
                        return Err(FieldError::new(format!("the depth limit of {MAX_DEPTH} is exceeded at byte {}", self.at)));
                    }
                    kinds = kinds << 1 | (byte == b'{') as u128;
                    self.at += 1;
                }
                byte @ (b'}' | b']') => {
                    if (kinds & 1 == 1) != (byte == b'}') {
                        return Err(self.syntax(if byte == b'}' { "`]`" } else { "`}`" }));
                    }
                    kinds >>= 1;
                    open -= 1;
                    self.at += 1;
                    if open == 0 {
                        return Ok(());
                    }
                }
                b',' | b':' => self.at += 1,
                b'"' => self.skip_string()?,
                _ => self.skip_scalar()?,
            }
        }
    }

    /// The text of one value of any kind. Its grammar is not checked.
    pub(crate) fn raw(&mut self) -> Result<&'a str, FieldError> {
        let start = self.start();
        self.skip_value()?;
        Ok(&self.text[start..self.at])
    }
}

/// How many of eight bytes stand before the first backslash.
#[inline]
fn plain_bytes(chunk: u64) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let matches = chunk ^ (ONES * b'\\' as u64);
    // The lowest match is exact; above it carries may set bits that do not count.
    let zeros = matches.wrapping_sub(ONES) & !matches & (ONES << 7);
    (zeros.trailing_zeros() / 8) as usize
}

/// Whether a number or word may end before this byte.
#[inline]
fn ends_token(byte: Option<&u8>) -> bool {
    matches!(byte, None | Some(b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t'))
}

/// The place of the quote that ends a string whose content starts at `start`. Looks for quotes only, as most strings with
/// escapes have no quotes in them, and then asks how many backslashes stand before.
#[inline]
fn string_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = start;
    loop {
        at += memchr(b'"', bytes.get(at..)?)?;
        let backslashes = bytes[start..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        if backslashes % 2 == 0 {
            return Some(at);
        }
        at += 1;
    }
}

/// The character of a `\u` escape, behind the `u`, and how many bytes it takes there; surrogates come in pairs.
fn unicode_escape(bytes: &[u8]) -> Option<(char, usize)> {
    let unit = |bytes: &[u8]| {
        let digits = bytes.first_chunk::<4>()?;
        digits.iter().try_fold(0u32, |value, digit| Some(value << 4 | (*digit as char).to_digit(16)?))
    };
    let first = unit(bytes)?;
    match first {
        0xd800..=0xdbff => {
            let low = bytes[4..].strip_prefix(b"\\u").and_then(unit).filter(|low| (0xdc00..=0xdfff).contains(low))?;
            char::from_u32(0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00)).map(|c| (c, 10))
        }
        _ => char::from_u32(first).map(|c| (c, 4)),
    }
}
