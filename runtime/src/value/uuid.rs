//! `uuid`.

use std::fmt;

use super::ParseError;

/// A UUID as a big-endian number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(pub u128);

impl Uuid {
    /// Reads `67e55044-10b1-426f-9247-bb680e5fe0c8`, upper or lower case, or the 32 digits without hyphens.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        const NOT: ParseError = ParseError::new("is not a UUID");
        let hyphens = match text.len() {
            32 => false,
            36 => true,
            _ => return Err(NOT),
        };
        let mut value = 0u128;
        for (at, byte) in text.bytes().enumerate() {
            if hyphens && matches!(at, 8 | 13 | 18 | 23) {
                if byte != b'-' {
                    return Err(NOT);
                }
                continue;
            }
            value = value << 4 | (byte as char).to_digit(16).ok_or(NOT)? as u128;
        }
        Ok(Uuid(value))
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let v = self.0;
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            v >> 96,
            v >> 80 & 0xffff,
            v >> 64 & 0xffff,
            v >> 48 & 0xffff,
            v & 0xffff_ffff_ffff
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_both_ways() {
        let text = "67e55044-10b1-426f-9247-bb680e5fe0c8";
        assert_eq!(Uuid::parse(text).unwrap().to_string(), text);
        assert_eq!(Uuid::parse(&text.replace('-', "").to_uppercase()).unwrap().to_string(), text);
        for bad in ["", "67e55044", "67e5504410b1-426f-9247-bb680e5fe0c8-", "g7e55044-10b1-426f-9247-bb680e5fe0c8"] {
            assert!(Uuid::parse(bad).is_err(), "{bad}");
        }
    }
}
