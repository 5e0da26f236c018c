//! `flow! { .. }`: the text as it stands in the Rust file, so that lines and columns are those of that file.

use proc_macro::{Span, TokenStream, TokenTree};

use millstream_compiler::diagnostics::Diagnostic;
use millstream_compiler::disk::Disk;
use millstream_compiler::embed::{self, Embedded};
use millstream_compiler::session::{Library, Loader};
use millstream_compiler::source::FileId;

use crate::place::{self, Place, Token};
use crate::{code, report};

/// The module, or all mistakes at their tokens.
pub fn expand(input: TokenStream) -> TokenStream {
    let mut tokens = Vec::new();
    place::tokens(input.clone(), &mut tokens);
    let call = Span::call_site();
    if let Some(message) = nothing(input.clone()) {
        return report::error(
            message,
            tokens.first().map_or(Place::call_site(), |token| Place { first: token.span, last: token.span }),
        );
    }
    let text = match call.source_text() {
        Some(text) if stands_there(&text, call, &tokens) => padded(&text, call.start().line(), call.start().column()),
        // Editors that have no text for a macro get what the tokens say.
        None => input.to_string(),
        Some(_) => {
            let message =
                "`flow!` cannot be written by another macro: write the pipeline where it is, or in a file for `include_flow!`";
            return report::error(message, Place::call_site());
        }
    };
    let path = call.local_file().map_or_else(|| "flow!".to_owned(), |path| path.to_string_lossy().into_owned());
    let loader = Here { path: &path, text: &text };
    let embedded = match embed::compile(&path, &loader, embed::Place::Text) {
        Ok(embedded) => embedded,
        Err(error) => return report::error(&error.to_string(), Place::call_site()),
    };
    let mut out = report::all(&embedded.diagnostics, &embedded.sources, |found| place_of(found, &embedded, &tokens));
    out.extend(embedded.module.iter().map(|module| code::tokens(&module.text)));
    out.extend(embedded.sources.files().skip(1).map(|(_, file)| code::tracked(&file.path)));
    out
}

/// What is to be said where there is no pipeline at all.
fn nothing(input: TokenStream) -> Option<&'static str> {
    let mut tokens = input.into_iter();
    match (tokens.next(), tokens.next()) {
        (None, _) => Some("there is no pipeline here: `flow! { job orders {} source .. sink .. }`"),
        (Some(TokenTree::Literal(_)), None) => {
            Some("write the pipeline itself, without quotes, or in a file beside this one: `include_flow!(\"orders.flow\")`")
        }
        _ => None,
    }
}

/// Whether the tokens are those of the text: what another macro has put there stands elsewhere.
fn stands_there(text: &str, call: Span, tokens: &[Token]) -> bool {
    let (first, last) = (call.start().line(), call.end().line());
    text.contains('!') && tokens.iter().all(|token| (first..=last).contains(&token.start.0))
}

/// The text between the delimiters, behind as much space as there is before it in the file.
fn padded(text: &str, line: usize, column: usize) -> String {
    let open = text.find('!').and_then(|at| text[at..].find(['{', '(', '[']).map(|open| at + open + 1)).unwrap_or(0);
    let close = text.rfind(['}', ')', ']']).unwrap_or(text.len()).max(open);
    let mut padded = "\n".repeat(line.saturating_sub(1));
    padded.push_str(&" ".repeat(column.saturating_sub(1)));
    padded.extend(text[..open].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
    padded.push_str(&text[open..close]);
    padded
}

/// The tokens that a diagnostic is about; for one in a file that is used, the macro call.
fn place_of(diagnostic: &Diagnostic, embedded: &Embedded, tokens: &[Token]) -> (Place, bool) {
    let span = diagnostic.primary.span;
    if span.file != FileId(0) {
        return (Place::call_site(), false);
    }
    let file = embedded.sources.file(span.file);
    let position = |offset| {
        let (line, column) = file.line_column(offset);
        (line as usize, column as usize)
    };
    (place::between(tokens, position(span.start), position(span.end)), true)
}

/// The text of the macro under the name of the Rust file; other files from disk.
struct Here<'a> {
    path: &'a str,
    text: &'a str,
}

impl Loader for Here<'_> {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        if path == self.path { Ok(self.text.as_bytes().to_vec()) } else { Disk.load(path) }
    }

    fn libraries(&self, file: &str) -> Result<Vec<Library>, String> {
        Disk.libraries(file)
    }
}

#[cfg(test)]
mod tests {
    use super::padded;

    #[test]
    fn the_text_keeps_its_lines_and_columns() {
        let text = padded("millstream::flow! {\n    job a {}\n}", 3, 5);
        assert_eq!(text, format!("\n\n{}\n    job a {{}}\n", " ".repeat(4 + "millstream::flow! {".len())));
        assert_eq!(padded("flow!(job ä {})", 1, 1), "      job ä {}");
    }
}
