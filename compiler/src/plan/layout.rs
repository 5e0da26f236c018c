//! Layouts that cannot run, as diagnostics.

use millstream_runtime::graph::{LayoutError, Origin};

use crate::diagnostics::Diagnostic;
use crate::source::{FileId, SourceMap, Span};

/// The diagnostic of a layout error. An error of the job as a whole stands where `job` is.
pub fn diagnose(files: &SourceMap, error: &LayoutError, job: Span) -> Diagnostic {
    let span = error.origin.as_ref().and_then(|origin| span_of(files, origin)).unwrap_or(job);
    let mut diagnostic = Diagnostic::error(error.code, error.title.clone(), span, error.label.clone());
    diagnostic.help.clone_from(&error.help);
    diagnostic
}

/// The first line of a place in the text.
fn span_of(files: &SourceMap, origin: &Origin) -> Option<Span> {
    let (id, file): (FileId, _) = files.files().find(|(_, file)| file.path == origin.file)?;
    let mut start = 0;
    let mut lines = file.text.split_inclusive('\n');
    for line in lines.by_ref().take(origin.line.checked_sub(1)? as usize) {
        start += line.len();
    }
    let line = lines.next()?;
    let column: usize = line.chars().take(origin.column.saturating_sub(1) as usize).map(char::len_utf8).sum();
    let text = line.get(column..)?.trim_end();
    Some(Span::new(id, start + column, start + column + text.len()))
}
