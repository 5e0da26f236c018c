//! Doc comments of generated code: where in the text a thing comes from.

use millstream_runtime::graph::Origin;
use proc_macro2::TokenStream;
use quote::quote;

/// `/// text`; nothing for an empty text.
pub(super) fn line(text: &str) -> TokenStream {
    if text.is_empty() {
        return TokenStream::new();
    }
    let text = format!(" {}", printable(text));
    quote!(#[doc = #text])
}

/// `/// flight_delays.flow:21 | aggregate by carrier ..`
pub(super) fn origin(origin: &Origin) -> TokenStream {
    line(&origin_text(origin))
}

/// `flight_delays.flow:21 | aggregate by carrier ..`; empty where the place is not known.
pub(super) fn origin_text(origin: &Origin) -> String {
    if origin.line == 0 {
        return String::new();
    }
    format!("{}:{} {}", origin.file, origin.line, origin.text)
}

/// `orders.flow:12:9`, for messages of the running job.
pub(super) fn place(origin: &Origin) -> String {
    format!("{}:{}:{}", origin.file, origin.line, origin.column)
}

/// On one line, and without characters that rustc refuses in comments or that change the direction of the text.
fn printable(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => line.extend(c.escape_unicode()),
            c if c.is_control() || c == '\u{2028}' || c == '\u{2029}' => line.push(' '),
            c => line.push(c),
        }
    }
    line
}
