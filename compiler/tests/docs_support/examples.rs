//! Examples of the reference that run: a block of `flow` with a block of `json` right below it, the rows that it gives.

// Each test that includes this uses a part of it.
#![allow(dead_code)]

use std::ops::Range;
use std::path::{Path, PathBuf};

/// An example that runs.
#[derive(Clone, Debug)]
pub struct Example {
    pub page: PathBuf,
    /// `operators_3`: the third of its page.
    pub name: String,
    /// Where it begins on the page.
    pub line: usize,
    /// As it stands there.
    pub block: String,
    /// The rows below it, and where they stand on the page.
    pub rows: String,
    pub place: Range<usize>,
}

impl Example {
    /// The whole file: what examples have in common stands in `shop.flow`.
    pub fn text(&self) -> String {
        format!("use \"shop.flow\"\n\n{}", self.block)
    }
}

/// Where the reference is.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/language")
}

/// All examples that run, page by page.
pub fn all() -> Vec<Example> {
    let mut pages: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("the reference")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    pages.iter().flat_map(|page| of(page, &std::fs::read_to_string(page).expect("a page"))).collect()
}

/// Those of a page.
pub fn of(page: &Path, text: &str) -> Vec<Example> {
    const FLOW: &str = "```flow\n";
    const ROWS: &str = "\n```\n\n```json\n";
    let stem = page.file_stem().unwrap_or_default().to_string_lossy();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(FLOW).map(|start| at + start + FLOW.len()) {
        let end = text[start..].find("\n```").map_or(text.len(), |end| start + end);
        at = end;
        if let Some(rest) = text[end..].strip_prefix(ROWS) {
            let from = end + ROWS.len();
            let to = from + if rest.starts_with("```") { 0 } else { rest.find("\n```").map_or(rest.len(), |end| end + 1) };
            found.push(Example {
                page: page.to_path_buf(),
                name: format!("{stem}_{}", found.len() + 1),
                line: text[..start].lines().count() + 1,
                block: text[start..=end].to_owned(),
                rows: text[from..to].to_owned(),
                place: from..to,
            });
        }
    }
    found
}
