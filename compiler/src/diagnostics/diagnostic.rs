//! One message to the user.

use crate::source::Span;

/// `E0203`, `W0401`. Ranges: E01 syntax, E02 names, E03 types, E04 time and windows, E05 keys and state,
/// E06 connectors and delivery, E07 planning, E09 generated code and build. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub &'static str);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    Error,
    Warning,
}

/// A place in the text and what to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    pub message: String,
}

/// A change of the text that would mend the mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    pub title: String,
    pub span: Span,
    pub replacement: String,
    /// Whether it can be applied without asking.
    pub safe: bool,
}

/// One message: what is wrong (title), why here (labels), what to type instead (help).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub code: Code,
    pub severity: Severity,
    pub title: String,
    pub primary: Label,
    pub secondary: Vec<Label>,
    pub notes: Vec<String>,
    pub help: Option<String>,
    pub fix: Option<Fix>,
}

impl Diagnostic {
    pub fn error(code: &'static str, title: impl Into<String>, span: Span, label: impl Into<String>) -> Self {
        Diagnostic {
            code: Code(code),
            severity: Severity::Error,
            title: title.into(),
            primary: Label { span, message: label.into() },
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
            fix: None,
        }
    }

    pub fn warning(code: &'static str, title: impl Into<String>, span: Span, label: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Self::error(code, title, span, label) }
    }

    pub fn with_label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.secondary.push(Label { span, message: message.into() });
        self
    }

    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub fn with_fix(mut self, title: impl Into<String>, span: Span, replacement: impl Into<String>, safe: bool) -> Self {
        self.fix = Some(Fix { title: title.into(), span, replacement: replacement.into(), safe });
        self
    }
}
