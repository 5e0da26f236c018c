//! Writing JSON, without allocations.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Whether none of eight bytes needs an escape.
#[inline]
fn is_plain(chunk: u64) -> bool {
    let below_space = chunk.wrapping_sub(ONES * 0x20) & !chunk;
    let quote = chunk ^ (ONES * b'"' as u64);
    let backslash = chunk ^ (ONES * b'\\' as u64);
    let zero = |x: u64| x.wrapping_sub(ONES) & !x;
    (below_space | zero(quote) | zero(backslash)) & HIGH == 0
}

/// Appends a string in quotes.
#[inline]
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let bytes = text.as_bytes();
    let (mut from, mut at) = (0, 0);
    while at < bytes.len() {
        if let Some(chunk) = bytes[at..].first_chunk::<8>()
            && is_plain(u64::from_le_bytes(*chunk))
        {
            at += 8;
            continue;
        }
        let end = (at + 8).min(bytes.len());
        while at < end {
            if bytes[at] < 0x20 || bytes[at] == b'"' || bytes[at] == b'\\' {
                out.extend_from_slice(&bytes[from..at]);
                write_escape(bytes[at], out);
                from = at + 1;
            }
            at += 1;
        }
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}

fn write_escape(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        8 => b'b',
        12 => b'f',
        _ => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', HEX[(byte >> 4) as usize], HEX[(byte & 15) as usize]]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_serde_reads_is_what_was_written() {
        let mut texts: Vec<String> = (0..300u32).filter_map(char::from_u32).map(|c| format!("abcdefg{c}hijklmnop{c}")).collect();
        texts.extend(["".into(), "数量 é e\u{301} 🦀".into(), "\\".repeat(20), "\"".into()]);
        for text in texts {
            let mut out = Vec::new();
            write_string(&text, &mut out);
            assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
        }
    }
}
