//! `url_host`, `url_path`, `url_parameter`, `url_encode`, `url_decode`

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new(
        "url",
        "url_host(url: string) -> string?",
        "The host of an address, without user and port; null where the text has none.",
        &[("url_host(\"https://ann@example.com:8080/a?b=1\")", "\"example.com\""), ("url_host(\"/a/b\")", "null")],
    ),
    FunctionSpec::new(
        "url",
        "url_path(url: string) -> string",
        "The path of an address, as it stands: from the first `/` behind the host up to `?` or `#`.",
        &[("url_path(\"https://example.com/a/b.html?c=1\")", "\"/a/b.html\""), ("url_path(\"https://example.com\")", "\"\"")],
    ),
    FunctionSpec::new(
        "url",
        "url_parameter(url: string, name: string) -> string?",
        "The value of the first parameter of this name behind the `?`, decoded (`+` is a blank); null where there is none.",
        &[("url_parameter(\"https://example.com/?q=to+b%65&id=7\", \"q\")", "\"to be\"")],
    ),
    FunctionSpec::new(
        "url",
        "url_encode(text: string) -> string",
        "The text with `%XX` for every byte of UTF-8 but letters, digits and `-._~`.",
        &[("url_encode(\"a b/é\")", "\"a%20b%2F%C3%A9\"")],
    ),
    FunctionSpec::new(
        "url",
        "url_decode(text: string) -> string?",
        "The text with every `%XX` replaced by its byte; null where that gives no UTF-8 or a `%` is not followed by two \
         hexadecimal digits.",
        &[("url_decode(\"a%20b%2F%C3%A9\")", "\"a b/é\""), ("url_decode(\"50%\")", "null")],
    ),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::value::Str;

    /// What stands behind `scheme:` (where there is one) and `//`, and whether there was `//`.
    fn behind_scheme(url: &str) -> (&str, bool) {
        let scheme = |text: &str| {
            let mut bytes = text.bytes();
            bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
                && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
        };
        let rest = match url.split_once(':') {
            Some((start, rest)) if scheme(start) && rest.starts_with("//") => rest,
            _ => url,
        };
        match rest.strip_prefix("//") {
            Some(rest) => (rest, true),
            None => (rest, false),
        }
    }

    /// The host of an address.
    pub fn url_host(url: &str) -> Option<Str> {
        let (rest, true) = behind_scheme(url) else { return None };
        let authority = rest.split(['/', '?', '#']).next()?;
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let host = match host.strip_prefix('[') {
            Some(inside) => inside.split_once(']')?.0,
            None => host.split(':').next()?,
        };
        (!host.is_empty()).then(|| host.into())
    }

    /// The path of an address.
    pub fn url_path(url: &str) -> Str {
        let (rest, has_host) = behind_scheme(url);
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let start = if has_host { rest.find('/').unwrap_or(rest.len()) } else { 0 };
        rest.get(start..).unwrap_or_default().into()
    }

    /// The value of a parameter.
    pub fn url_parameter(url: &str, name: &str) -> Option<Str> {
        let query = url.split('#').next()?.split_once('?')?.1;
        query.split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let matches = key == name || decode(key, true).is_some_and(|key| key == name);
            if matches { decode(value, true) } else { None }
        })
    }

    /// Every byte that has a meaning of its own as `%XX`.
    pub fn url_encode(text: &str) -> Str {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        let mut out = Str::with_capacity(text.len());
        for byte in text.bytes() {
            if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
                out.push(byte as char);
            } else {
                out.push('%');
                out.push(DIGITS[usize::from(byte >> 4)] as char);
                out.push(DIGITS[usize::from(byte & 15)] as char);
            }
        }
        out
    }

    /// Every `%XX` as its byte.
    pub fn url_decode(text: &str) -> Option<Str> {
        decode(text, false)
    }

    fn decode(text: &str, plus_is_blank: bool) -> Option<Str> {
        let mut out = Vec::with_capacity(text.len());
        let mut bytes = text.bytes();
        while let Some(byte) = bytes.next() {
            out.push(match byte {
                b'%' => {
                    let mut digit = || (bytes.next()? as char).to_digit(16);
                    (digit()? << 4 | digit()?) as u8
                }
                b'+' if plus_is_blank => b' ',
                byte => byte,
            });
        }
        Str::from_utf8(out).ok()
    }

    #[test]
    fn parts_of_addresses() {
        for (url, host, path) in [
            ("https://ann:x@example.com:8080/a/b?c=/d#/e", Some("example.com"), "/a/b"),
            ("https://example.com", Some("example.com"), ""),
            ("https://example.com?x=/a", Some("example.com"), ""),
            ("//example.com/a", Some("example.com"), "/a"),
            ("https://[::1]:80/a", Some("::1"), "/a"),
            ("/a/b?c", None, "/a/b"),
            ("a:b/c", None, "a:b/c"),
            ("https:///a", None, "/a"),
            ("https://[::1", None, ""),
            ("", None, ""),
        ] {
            assert_eq!((url_host(url).as_deref(), url_path(url).as_str()), (host, path), "{url}");
        }
        let url = "https://x/?a=1&b%20c=to+b%65&empty=&flag#f=1";
        for (name, value) in [("a", Some("1")), ("b c", Some("to be")), ("empty", Some("")), ("flag", Some("")), ("f", None)] {
            assert_eq!(url_parameter(url, name).as_deref(), value, "{name}");
        }
    }

    #[test]
    fn percents_in_both_directions() {
        assert_eq!(url_encode("a b/é-._~"), "a%20b%2F%C3%A9-._~");
        for text in ["a b/é", "", "100%"] {
            assert_eq!(url_decode(&url_encode(text)).as_deref(), Some(text));
        }
        for text in ["%", "%2", "%zz", "%ff", "a%é"] {
            assert_eq!(url_decode(text), None, "{text}");
        }
        assert_eq!(url_decode("a+b").as_deref(), Some("a+b"));
    }
}
