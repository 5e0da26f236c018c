//! Diagnostics in the editor's words.
//!
//! A pipeline may have mistakes in files that it uses; those are shown there, too. A file that is itself open as a pipeline
//! shows only its own.

use std::collections::BTreeMap;

use lsp_types::{Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location, NumberOrString, Uri};
use millstream_compiler::diagnostics::{self, Severity};
use millstream_compiler::ide::Analysis;
use millstream_compiler::session::normal;
use millstream_compiler::source::{FileId, Span};

use super::convert::{Lines, uri};
use super::files::Files;

/// What is shown of each file, by path.
pub type Shown = BTreeMap<String, Vec<Diagnostic>>;

/// Files of an analysis, with their lines.
pub struct Places<'a> {
    files: Vec<(FileId, Option<Uri>, String, Lines<'a>)>,
}

impl<'a> Places<'a> {
    pub fn new(analysis: &'a Analysis, open: &Files) -> Self {
        let files = analysis.session().sources().files().map(|(id, file)| {
            let path = normal(&file.path);
            let uri = open.open.get(&path).map(|document| document.uri.clone()).or_else(|| uri(&path));
            (id, uri, path, Lines::new(&file.text))
        });
        Places { files: files.collect() }
    }

    /// The place of a span. None: it has none.
    pub fn location(&self, span: Span) -> Option<Location> {
        let (_, uri, _, lines) = self.files.iter().find(|(id, ..)| *id == span.file)?;
        Some(Location { uri: uri.clone()?, range: lines.range(span.start, span.end) })
    }

    fn path(&self, span: Span) -> Option<&str> {
        self.files.iter().find(|(id, ..)| *id == span.file).map(|(_, _, path, _)| path.as_str())
    }
}

/// All diagnostics of a file and of those that it uses. Each of the files has an entry.
pub fn shown(analysis: &Analysis, open: &Files) -> Shown {
    let places = Places::new(analysis, open);
    let mut shown: Shown = places.files.iter().map(|(_, _, path, _)| (path.clone(), Vec::new())).collect();
    for found in analysis.diagnostics() {
        let Some(path) = places.path(found.primary.span) else { continue };
        if let (Some(list), Some(found)) = (shown.get_mut(path), diagnostic(found, &places)) {
            list.push(found);
        }
    }
    shown
}

/// One diagnostic. None: its place is in no file.
pub fn diagnostic(found: &diagnostics::Diagnostic, places: &Places<'_>) -> Option<Diagnostic> {
    let range = places.location(found.primary.span)?.range;
    let mut message = found.title.clone();
    let texts = std::iter::once(&found.primary.message).chain(&found.notes).filter(|text| !text.is_empty());
    texts.for_each(|text| message.push_str(&format!("\n{text}")));
    if let Some(help) = &found.help {
        message.push_str(&format!("\nhelp: {help}"));
    }
    let related = found.secondary.iter().filter_map(|label| {
        Some(DiagnosticRelatedInformation { location: places.location(label.span)?, message: label.message.clone() })
    });
    let related: Vec<_> = related.collect();
    // What reaches no sink, or is never used.
    let unused = matches!(found.code.0, "W0201" | "W0202");
    Some(Diagnostic {
        range,
        severity: Some(match found.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(found.code.0.to_owned())),
        source: Some("millstream".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        tags: unused.then(|| vec![DiagnosticTag::UNNECESSARY]),
        ..Diagnostic::default()
    })
}
