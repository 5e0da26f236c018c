//! Runs one UI case, and writes markers under its mistakes.

use std::path::Path;

use millstream_compiler::diagnostics::Diagnostic;
use millstream_compiler::diagnostics::render::{Style, render_all};
use millstream_compiler::session::{Loader, Session};
use millstream_compiler::source::{SourceFile, SourceMap};
use millstream_compiler::syntax;

/// What the compiler says about a text.
pub struct Outcome {
    pub diagnostics: Vec<Diagnostic>,
    pub rendered: String,
    pub sources: SourceMap,
}

/// Reads files below the root; the case's own text is what it is given.
struct Files<'a> {
    root: &'a Path,
    name: &'a str,
    text: &'a str,
}

impl Loader for Files<'_> {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        if path == self.name {
            return Ok(self.text.as_bytes().to_vec());
        }
        std::fs::read(self.root.join(path)).map_err(|_| "there is no such file".to_string())
    }
}

/// Runs the phases of the case's folder on a text.
pub fn run(root: &Path, path: &Path, text: &str) -> Outcome {
    let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
    let (sources, diagnostics) = if name.starts_with("syntax/") {
        let mut sources = SourceMap::default();
        let file = sources.add(SourceFile::new(name, text));
        (sources, syntax::parse(file, text).diagnostics.into_sorted())
    } else {
        let mut session = Session::open(&name, &Files { root, name: &name, text }).expect("the case's own text is there");
        session.plan();
        (session.sources().clone(), session.diagnostics().to_vec())
    };
    let rendered = render_all(&diagnostics, &sources, Style::Plain);
    Outcome { diagnostics, rendered, sources }
}

/// Whether a line is a marker.
fn is_marker(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("//") else { return false };
    let code = match rest.strip_prefix('~') {
        Some(rest) => rest,
        None if rest.trim_start().starts_with('^') => rest.trim_start().trim_start_matches('^'),
        None => return false,
    };
    let mut code = code.strip_prefix(' ').unwrap_or("").chars();
    matches!(code.next(), Some('E' | 'W')) && code.take(4).filter(char::is_ascii_digit).count() == 4
}

/// The text without its markers.
pub fn strip(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !is_marker(line)).collect()
}

/// The text with a marker under each mistake of the first file.
pub fn annotate(text: &str, outcome: &Outcome) -> String {
    let Some((first, source)) = outcome.sources.files().next() else { return text.to_string() };
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_string).collect();
    if lines.is_empty() {
        lines.push(String::new());
    }
    // From the last to the first, so that line numbers stay right.
    let mut markers: Vec<(usize, String)> = Vec::new();
    for diagnostic in outcome.diagnostics.iter().filter(|diagnostic| diagnostic.primary.span.file == first) {
        let span = diagnostic.primary.span;
        let (line, column) = source.line_column(span.start);
        let (end_line, end_column) = source.line_column(span.end);
        let own = lines.get(line as usize - 1).map_or(0, |line| line.trim_end().chars().count() as u32);
        let end = if end_line == line { end_column } else { own + 1 };
        let (code, title) = (diagnostic.code.0, &diagnostic.title);
        let marker = match column {
            1 | 2 => format!("//~ {code} {title}\n"),
            _ => {
                let carets = end.saturating_sub(column).max(1) as usize;
                format!("//{:width$}{} {code} {title}\n", "", "^".repeat(carets), width = column as usize - 3)
            }
        };
        markers.push((line as usize, marker));
    }
    for (line, marker) in markers.into_iter().rev() {
        if let Some(before) = lines.get_mut(line - 1).filter(|line| !line.ends_with('\n')) {
            before.push('\n');
        }
        lines.insert(line.min(lines.len()), marker);
    }
    lines.concat()
}
