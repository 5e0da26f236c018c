//! Partition folders in Hive's style: `dt=2026-01-01/hm=07%3A59`.

use std::fmt::Write;

use crate::record::Record;

/// What Hive writes for null.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Appends the folder of a row.
pub(super) fn partition_folder<T: Record>(row: &T, columns: &[usize], out: &mut String) {
    for (position, &column) in columns.iter().enumerate() {
        if position > 0 {
            out.push('/');
        }
        escape(T::COLUMNS[column].name, out);
        out.push('=');
        match row.column_text(column) {
            Some(text) if !text.is_empty() => escape(&text, out),
            _ => out.push_str(NULL),
        }
    }
}

/// Percent-escapes what file systems or Hive take for something else.
fn escape(text: &str, out: &mut String) {
    for (position, letter) in text.chars().enumerate() {
        let special = matches!(
            letter,
            '\0'..='\x1f' | '\x7f' | '"' | '#' | '%' | '\'' | '*' | '/' | ':' | '=' | '?' | '\\' | '{' | '[' | ']' | '^'
        );
        if special || (position == 0 && letter == '.') {
            let _ = write!(out, "%{:02X}", u32::from(letter));
        } else {
            out.push(letter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn values_cannot_leave_their_folder() {
        let escaped = |text| {
            let mut out = String::new();
            escape(text, &mut out);
            out
        };
        assert_eq!(escaped("07:59"), "07%3A59");
        assert_eq!(escaped("../../etc"), "%2E.%2F..%2Fetc");
        assert_eq!(escaped("100% ü"), "100%25 ü");
    }
}
