//! Diagnostics as rustc shows them: errors as `compile_error!`, warnings as the use of something deprecated, which is the one
//! warning with a text of its own that a macro can cause.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

use millstream_compiler::diagnostics::render::{MAX_PER_FILE, Style, render};
use millstream_compiler::diagnostics::{Diagnostic, Severity};
use millstream_compiler::source::SourceMap;

use crate::place::Place;

/// `compile_error!("message")`, underlining a place.
pub fn error(message: &str, place: Place) -> TokenStream {
    let mut argument = Literal::string(message);
    argument.set_span(place.last);
    let mut argument = Group::new(Delimiter::Brace, TokenStream::from(TokenTree::from(argument)));
    argument.set_span(place.last);
    let punct = |c, spacing| {
        let mut punct = Punct::new(c, spacing);
        punct.set_span(place.first);
        TokenTree::from(punct)
    };
    let ident = |name| TokenTree::from(Ident::new(name, place.first));
    TokenStream::from_iter([
        punct(':', Spacing::Joint),
        punct(':', Spacing::Alone),
        ident("core"),
        punct(':', Spacing::Joint),
        punct(':', Spacing::Alone),
        ident("compile_error"),
        punct('!', Spacing::Alone),
        argument.into(),
    ])
}

/// A constant that says the message when it is used, and its use at the place.
fn warning(code: &str, message: &str, place: Place) -> TokenStream {
    let message = Literal::string(message);
    let mut tokens = TokenStream::new();
    for token in
        crate::code::tokens(&format!("const _: () = {{ #[deprecated(note = {message})] const {code}: () = (); {code} }};"))
    {
        tokens.extend([spanned_use(token, code, place.first)]);
    }
    tokens
}

/// Moves the last use of the constant, which is what the warning is about, to its place.
fn spanned_use(token: TokenTree, code: &str, span: Span) -> TokenTree {
    let TokenTree::Group(group) = token else { return token };
    let mut inner: Vec<TokenTree> = group.stream().into_iter().collect();
    if let Some(TokenTree::Ident(last)) = inner.last_mut()
        && last.to_string() == code
    {
        // As if it stood there, seen from where the constant is.
        last.set_span(last.span().located_at(span));
    }
    let mut moved = Group::new(group.delimiter(), TokenStream::from_iter(inner));
    moved.set_span(group.span());
    moved.into()
}

/// All of them; those past the most that are shown of one file are counted. `place`: where one is shown, and whether its own
/// text is there for rustc to show.
pub fn all(diagnostics: &[Diagnostic], sources: &SourceMap, place: impl Fn(&Diagnostic) -> (Place, bool)) -> TokenStream {
    let mut tokens = TokenStream::new();
    for diagnostic in diagnostics.iter().take(MAX_PER_FILE) {
        let (place, shown) = place(diagnostic);
        let message = if shown { beside_text(diagnostic, sources) } else { with_text(diagnostic, sources) };
        tokens.extend(match diagnostic.severity {
            Severity::Error => error(&message, place),
            Severity::Warning => warning(diagnostic.code.0, &message, place),
        });
    }
    let errors_left = diagnostics.iter().skip(MAX_PER_FILE).filter(|left| left.severity == Severity::Error).count();
    if errors_left > 0 {
        tokens.extend(error(&format!("{errors_left} more errors are not shown"), Place::call_site()));
    }
    tokens
}

/// For a place whose text rustc shows itself.
fn beside_text(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let mut text = title(diagnostic);
    let mut line = |line: String| {
        text.push('\n');
        text.push_str(&line);
    };
    if !diagnostic.primary.message.is_empty() {
        line(diagnostic.primary.message.clone());
    }
    for label in &diagnostic.secondary {
        let file = sources.file(label.span.file);
        let (row, column) = file.line_column(label.span.start);
        line(format!("{}:{row}:{column}: {}", file.path, label.message));
    }
    diagnostic.notes.iter().for_each(|note| line(format!("note: {note}")));
    match (&diagnostic.help, &diagnostic.fix) {
        (Some(help), _) => line(format!("help: {help}")),
        (None, Some(fix)) => line(format!("help: {}: `{}`", fix.title, fix.replacement)),
        (None, None) => {}
    }
    text
}

/// With the text of the file, as on the command line.
fn with_text(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let rendered = render(diagnostic, sources, Style::Plain);
    let below = rendered.split_once('\n').map_or("", |(_, below)| below);
    format!("{}\n{}", title(diagnostic), below.trim_end())
}

fn title(diagnostic: &Diagnostic) -> String {
    format!("{} [{}]", diagnostic.title, diagnostic.code.0)
}
