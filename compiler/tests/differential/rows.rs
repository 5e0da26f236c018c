//! Rows as text in one form, whoever wrote them, and their comparison as multisets.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// Rows and how often they come.
pub type Rows = BTreeMap<String, usize>;

/// All rows of a file, or of the files of a folder.
pub fn read(path: &Path) -> Rows {
    let mut rows = Rows::new();
    let mut files = vec![path.to_path_buf()];
    while let Some(file) = files.pop() {
        if file.is_dir() {
            files.extend(fs::read_dir(&file).expect("a folder").map(|entry| entry.expect("an entry").path()));
        } else if let Ok(text) = fs::read_to_string(&file) {
            add(&mut rows, &text);
        }
    }
    rows
}

/// The rows of a text, one a line.
pub fn of(text: &str) -> Rows {
    let mut rows = Rows::new();
    add(&mut rows, text);
    rows
}

fn add(rows: &mut Rows, text: &str) {
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        *rows.entry(plain(&row)).or_default() += 1;
    }
}

/// Members by name; numbers, decimals in text and times in one form each.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<_, _> = members.iter().collect();
            let members: Vec<String> = members.iter().map(|(name, value)| format!("{name}: {}", plain(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(", ")),
        Value::Number(number) => match number.as_i64() {
            Some(number) => number.to_string(),
            None => float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => time(text).or_else(|| decimal(text)).unwrap_or_else(|| format!("{text:?}")),
        other => other.to_string(),
    }
}

/// Twelve digits: the last ones hang on how text is read and in which order values were added.
fn float(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value:.0}") } else { format!("{value:.11e}") }
}

/// `1.50` and `1.5` are one number, `1.0E300` and `1e300` as well.
fn decimal(text: &str) -> Option<String> {
    let exact = text.strip_prefix('-').unwrap_or(text);
    if exact.chars().all(|c| c.is_ascii_digit() || c == '.') && exact.contains(|c: char| c.is_ascii_digit()) {
        let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
        return Some(short.to_owned());
    }
    let number: f64 = text.parse().ok()?;
    Some(float(number))
}

/// `2026-03-01T00:00:10.000` and `2026-03-01T00:00:10Z` are one time.
fn time(text: &str) -> Option<String> {
    let digits = |range: std::ops::Range<usize>| text.get(range).is_some_and(|part| part.chars().all(|c| c.is_ascii_digit()));
    let is_time = digits(0..4) && text.get(4..5) == Some("-") && text.contains('T') && digits(11..13);
    let plain = text.trim_end_matches('Z');
    is_time.then(|| {
        if plain.contains('.') { plain.trim_end_matches('0').trim_end_matches('.').to_owned() } else { plain.to_owned() }
    })
}

/// What is missing and what is too much; None: nothing.
pub fn difference(found: &Rows, expected: &Rows) -> Option<String> {
    let mut text = String::new();
    for (row, count) in expected {
        let missing = count.saturating_sub(found.get(row).copied().unwrap_or(0));
        if missing > 0 {
            text.push_str(&format!("  missing {missing} x {row}\n"));
        }
    }
    for (row, count) in found {
        let extra = count.saturating_sub(expected.get(row).copied().unwrap_or(0));
        if extra > 0 {
            text.push_str(&format!("  too much {extra} x {row}\n"));
        }
    }
    (!text.is_empty()).then_some(text)
}
