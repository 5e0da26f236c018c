//! Rows as multisets, normalised by the recorded type of each column.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// How often each row stands.
pub type Rows = BTreeMap<String, i64>;

/// A column and its recorded SQL type (`BIGINT`, `DECIMAL(23, 3)`, `TIMESTAMP(3)`, `STRING`, `DOUBLE`).
pub type Columns = Vec<(String, String)>;

/// The columns that `expected/qN.json` records.
pub fn columns(recorded: &Path) -> Columns {
    let text = std::fs::read_to_string(recorded).expect("the record is there");
    let record: Value = serde_json::from_str(&text).expect("the record is JSON");
    let columns = record["columns"].as_array().expect("columns");
    columns.iter().map(|pair| (pair[0].as_str().unwrap_or("").to_string(), pair[1].as_str().unwrap_or("").to_string())).collect()
}

/// All rows of a file, or of all `*.json`, `*.jsonl` files (`.gz` too) of a folder at any depth; hidden files do not count.
pub fn read(path: &Path, columns: &Columns) -> Rows {
    let mut rows = Rows::new();
    for file in files(path) {
        for (number, line) in text(&file).lines().enumerate() {
            let row: Value =
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{}:{}: {error}", file.display(), number + 1));
            *rows.entry(normal_row(&row, columns, &file)).or_default() += 1;
        }
    }
    rows
}

/// Every visible output file below a folder.
pub fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_path_buf()];
    }
    let mut found = Vec::new();
    let entries = std::fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    for entry in entries {
        let entry = entry.expect("a folder entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(['.', '_']) {
            continue;
        }
        if entry.path().is_dir() {
            found.extend(files(&entry.path()));
        } else if name.ends_with(".json") || name.ends_with(".jsonl") || name.ends_with(".gz") || name.ends_with(".csv") {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}

/// A file's text, unpacked if it ends in `.gz`.
pub fn text(file: &Path) -> String {
    let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut text = String::new();
    if file.extension().is_some_and(|extension| extension == "gz") {
        flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).expect("gzip");
    } else {
        text = String::from_utf8(bytes).expect("UTF-8");
    }
    text
}

/// Fails with a readable difference unless both hold the same rows equally often.
pub fn assert_same(actual: &Rows, expected: &Rows, what: &str) {
    let list = |a: &Rows, b: &Rows| -> Vec<String> {
        a.iter().filter(|(row, count)| b.get(*row).copied().unwrap_or(0) < **count).map(|(row, _)| row.clone()).collect()
    };
    let (missing, unexpected) = (list(expected, actual), list(actual, expected));
    assert!(
        missing.is_empty() && unexpected.is_empty(),
        "{what}: {} rows, expected {}\n{} rows missing, such as\n{}\n{} rows unexpected, such as\n{}",
        actual.values().sum::<i64>(),
        expected.values().sum::<i64>(),
        missing.len(),
        missing.iter().take(3).cloned().collect::<Vec<_>>().join("\n"),
        unexpected.len(),
        unexpected.iter().take(3).cloned().collect::<Vec<_>>().join("\n"),
    );
}

/// A row as text, with its values in one form.
pub fn normal_row(row: &Value, columns: &Columns, file: &Path) -> String {
    let values: Vec<String> = columns
        .iter()
        .map(|(name, ty)| {
            let value = row.get(name).unwrap_or_else(|| panic!("{}: a row lacks `{name}`: {row}", file.display()));
            normal_value(value, ty).unwrap_or_else(|| panic!("{}: `{name}` is no {ty}: {row}", file.display()))
        })
        .collect();
    values.join(" | ")
}

fn normal_value(value: &Value, ty: &str) -> Option<String> {
    if value.is_null() {
        return Some("null".to_string());
    }
    if ty.starts_with("TIMESTAMP") {
        // A zone of UTC, a blank for `T` and trailing zeros of the fraction make no difference.
        let text = value.as_str()?.replace(' ', "T");
        let text = text.trim_end_matches('Z');
        return Some(match text.split_once('.') {
            Some((seconds, fraction)) => format!("{seconds}.{:0<6}", fraction),
            None => format!("{text}.000000"),
        });
    }
    if ty.starts_with("DECIMAL") {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
        return Some(if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text });
    }
    match ty {
        "BIGINT" => value.as_i64().map(|number| number.to_string()),
        "DOUBLE" => value.as_f64().map(|number| format!("{number:.9}")),
        _ => value.as_str().map(|text| format!("{text:?}")),
    }
}
