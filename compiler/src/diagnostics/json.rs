//! Diagnostics as JSON, one object a line, for editors and tools.

use serde_json::{Value, json};

use super::{Diagnostic, Label, Severity};
use crate::source::{SourceMap, Span};

/// One diagnostic as one line without a line end.
pub fn json(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let fix = diagnostic.fix.as_ref().map(
        |fix| json!({ "title": fix.title, "place": place(fix.span, sources), "replacement": fix.replacement, "safe": fix.safe }),
    );
    json!({
        "code": diagnostic.code.0,
        "severity": severity,
        "title": diagnostic.title,
        "primary": label(&diagnostic.primary, sources),
        "secondary": diagnostic.secondary.iter().map(|of| label(of, sources)).collect::<Vec<_>>(),
        "notes": diagnostic.notes,
        "help": diagnostic.help,
        "fix": fix,
    })
    .to_string()
}

fn label(label: &Label, sources: &SourceMap) -> Value {
    json!({ "place": place(label.span, sources), "message": label.message })
}

/// Lines and columns count from 1, columns in characters; `start` and `end` are byte offsets.
fn place(span: Span, sources: &SourceMap) -> Value {
    let Some((_, file)) = sources.files().find(|(id, _)| *id == span.file) else { return Value::Null };
    let ((line, column), (end_line, end_column)) = (file.line_column(span.start), file.line_column(span.end));
    json!({
        "file": file.path, "start": span.start, "end": span.end,
        "line": line, "column": column, "end_line": end_line, "end_column": end_column,
    })
}
