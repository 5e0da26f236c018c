//! `hash`, `hex`, `to_base64`, `from_base64`

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new(
        "hashing",
        "hash(text: string) -> int64",
        "A 64-bit hash (XXH3) that is the same on every machine and in every version. Not for secrets.",
        &[("hash(\"\")", "3244421341483603138")],
    ),
    FunctionSpec::new(
        "hashing",
        "hex(value: int64) -> string",
        "The value in hexadecimal digits, of a negative one its two's complement.",
        &[("hex(255)", "\"ff\"")],
    ),
    FunctionSpec::new(
        "hashing",
        "to_base64(bytes: bytes) -> string",
        "The bytes in base64, with padding.",
        &[("to_base64(cast(\"foo\", bytes))", "\"Zm9v\"")],
    ),
    FunctionSpec::new(
        "hashing",
        "from_base64(text: string) -> bytes?",
        "The bytes that a base64 text stands for; null if it is none.",
        &[("cast(from_base64(\"Zm9v\"), string)", "\"foo\"")],
    ),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::value::{Bytes, Str, base64_decode, base64_encode};

    /// A hash of 64 bits.
    pub fn hash(text: &str) -> i64 {
        xxhash_rust::xxh3::xxh3_64(text.as_bytes()) as i64
    }

    /// Hexadecimal digits.
    pub fn hex(value: i64) -> Str {
        crate::format_text!("{value:x}")
    }

    /// Base64.
    pub fn to_base64(bytes: &[u8]) -> Str {
        let mut out = Vec::new();
        base64_encode(bytes, &mut out);
        Str::from_utf8_lossy(&out)
    }

    /// The bytes of a base64 text.
    pub fn from_base64(text: &str) -> Option<Bytes> {
        base64_decode(text).ok()
    }

    #[test]
    fn known_values() {
        assert_eq!(hash(""), 0x2d06_8005_38d3_94c2);
        assert_eq!((hex(255).as_str(), hex(-1).as_str()), ("ff", "ffffffffffffffff"));
        assert_eq!((to_base64(b"foo").as_str(), from_base64("Zm9v"), from_base64("*")), ("Zm9v", Some(b"foo".to_vec()), None));
    }
}
