//! Source files and places in them.

use std::sync::Arc;

/// Names a file within one compilation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A stretch of one file's text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        Span { file, start: start as u32, end: end as u32 }
    }

    /// From the start of this to the end of that.
    pub fn to(self, that: Span) -> Span {
        Span { file: self.file, start: self.start.min(that.start), end: self.end.max(that.end) }
    }
}

/// One file: its path as the user named it, and its text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    pub path: String,
    pub text: Arc<str>,
    /// Byte offsets at which lines start.
    lines: Arc<[u32]>,
    /// Columns of such a text need no counting, which matters on lines of a megabyte.
    ascii: bool,
}

impl SourceFile {
    pub fn new(path: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        let text: Arc<str> = text.into();
        let lines =
            std::iter::once(0).chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1)).collect();
        SourceFile { path: path.into(), ascii: text.is_ascii(), text, lines }
    }

    /// 1-based line, and 1-based column in characters, of a byte offset.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let line = self.lines.partition_point(|start| *start <= offset).max(1) - 1;
        let start = self.lines[line] as usize;
        let end = (offset as usize).min(self.text.len());
        let column = match self.ascii {
            true => end.saturating_sub(start),
            false => self.text.get(start..end).map_or(0, |text| text.chars().count()),
        };
        (line as u32 + 1, column as u32 + 1)
    }
}

/// All files of one compilation; the first is the one the user named, the others came by `use`.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    pub fn add(&mut self, file: SourceFile) -> FileId {
        self.files.push(file);
        FileId(self.files.len() as u32 - 1)
    }

    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(index, file)| (FileId(index as u32), file))
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.start as usize..span.end as usize).unwrap_or("")
    }
}
