//! Diagnostics as text, in the look of rustc.
//!
//! Only the lines around the labels are handed to the renderer, and spans are moved to where they can be shown, so that
//! neither a long file nor a wrong span is a danger.

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Patch, Renderer, Snippet, normalize_untrusted_str};

use super::{Diagnostic, Severity};
use crate::source::{FileId, SourceMap, Span};

/// How text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without colours, for files and pipes.
    Plain,
    /// With colours, for terminals.
    Coloured,
}

/// Diagnostics of one file shown at most; the rest is counted.
pub const MAX_PER_FILE: usize = 20;

/// All of them, then how many there are. Empty: no diagnostics.
pub fn render_all(diagnostics: &[Diagnostic], sources: &SourceMap, style: Style) -> String {
    let mut text = String::new();
    let mut shown: Vec<(FileId, usize)> = Vec::new();
    for diagnostic in diagnostics {
        let file = diagnostic.primary.span.file;
        let count = match shown.iter_mut().find(|(of, _)| *of == file) {
            Some((_, count)) => count,
            None => {
                shown.push((file, 0));
                match shown.last_mut() {
                    Some((_, count)) => count,
                    None => continue,
                }
            }
        };
        *count += 1;
        if *count <= MAX_PER_FILE {
            text.push_str(&render(diagnostic, sources, style));
            text.push('\n');
        }
    }
    for (file, count) in shown.iter().filter(|(_, count)| *count > MAX_PER_FILE) {
        text.push_str(&format!("{}: {} more are not shown\n\n", path(sources, *file), count - MAX_PER_FILE));
    }
    text.push_str(&summary(diagnostics));
    text
}

/// `2 errors, 1 warning`; empty: none.
pub fn summary(diagnostics: &[Diagnostic]) -> String {
    let count = |severity| diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count();
    let say = |count: usize, word: &str| match count {
        0 => None,
        1 => Some(format!("1 {word}")),
        _ => Some(format!("{count} {word}s")),
    };
    let parts: Vec<String> =
        [say(count(Severity::Error), "error"), say(count(Severity::Warning), "warning")].into_iter().flatten().collect();
    if parts.is_empty() { String::new() } else { format!("{}\n", parts.join(", ")) }
}

/// One diagnostic.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap, style: Style) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = level
        .primary_title(normalize_untrusted_str(&diagnostic.title))
        .id(diagnostic.code.0)
        .elements(snippets(diagnostic, sources));
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(normalize_untrusted_str(note)));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(normalize_untrusted_str(help)));
    }
    let mut groups = vec![group];
    if diagnostic.help.is_none() {
        groups.extend(suggestion(diagnostic, sources));
    }
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    let mut text = renderer.decor_style(DecorStyle::Ascii).render(&groups);
    text.push('\n');
    text
}

/// One snippet for each file with labels, the primary label's file first.
fn snippets<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Vec<Snippet<'a, Annotation<'a>>> {
    let mut files = vec![diagnostic.primary.span.file];
    for label in &diagnostic.secondary {
        if !files.contains(&label.span.file) {
            files.push(label.span.file);
        }
    }
    let labels = std::iter::once((AnnotationKind::Primary, &diagnostic.primary))
        .chain(diagnostic.secondary.iter().map(|label| (AnnotationKind::Context, label)));
    let mut list = Vec::new();
    for file in files.into_iter().filter(|file| exists(sources, *file)) {
        let own: Vec<_> = labels.clone().filter(|(_, label)| label.span.file == file).collect();
        let window = Window::new(sources, file, own.iter().map(|(_, label)| label.span));
        let annotations = own.into_iter().map(|(kind, label)| {
            let annotation = kind.span(window.range(label.span));
            if label.message.is_empty() { annotation } else { annotation.label(normalize_untrusted_str(&label.message)) }
        });
        list.push(window.snippet().annotations(annotations.collect::<Vec<_>>()));
    }
    list
}

/// The fix as a change of the text.
fn suggestion<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Option<Group<'a>> {
    let fix = diagnostic.fix.as_ref().filter(|fix| exists(sources, fix.span.file))?;
    let window = Window::new(sources, fix.span.file, [fix.span].into_iter());
    let patch = Patch::new(window.exact(fix.span), fix.replacement.as_str());
    Some(Level::HELP.secondary_title(normalize_untrusted_str(&fix.title)).element(window.snippet().patch(patch)))
}

fn exists(sources: &SourceMap, file: FileId) -> bool {
    sources.files().any(|(id, _)| id == file)
}

fn path(sources: &SourceMap, file: FileId) -> &str {
    if exists(sources, file) { &sources.file(file).path } else { "?" }
}

/// The lines of a file around some spans.
struct Window<'a> {
    path: &'a str,
    text: &'a str,
    start: usize,
    first_line: usize,
}

impl<'a> Window<'a> {
    fn new(sources: &'a SourceMap, file: FileId, spans: impl Iterator<Item = Span> + Clone) -> Self {
        let source = sources.file(file);
        let text: &str = &source.text;
        let low = spans.clone().map(|span| span.start as usize).min().unwrap_or(0).min(text.len());
        let high = spans.map(|span| span.end as usize).max().unwrap_or(0).clamp(low, text.len());
        let start = text.as_bytes()[..low].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let end = text.as_bytes()[high..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| high + at);
        let (first_line, _) = source.line_column(start as u32);
        Window { path: &source.path, text: text.get(start..end).unwrap_or(""), start, first_line: first_line as usize }
    }

    fn snippet<T: Clone>(&self) -> Snippet<'a, T> {
        Snippet::source(self.text).line_start(self.first_line).path(self.path).fold(true)
    }

    /// A span within the window, on the borders of characters.
    fn exact(&self, span: Span) -> Range<usize> {
        let inside = |at: u32| {
            let mut at = (at as usize).saturating_sub(self.start).min(self.text.len());
            while !self.text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (start, end) = (inside(span.start), inside(span.end));
        start..end.max(start)
    }

    /// The same, at least one column wide where there is one.
    fn range(&self, span: Span) -> Range<usize> {
        let range = self.exact(span);
        match self.text[range.start..].chars().next() {
            Some(c) if range.is_empty() => range.start..range.start + c.len_utf8(),
            _ => range,
        }
    }
}
