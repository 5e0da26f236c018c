//! An address with the columns of a key in it: `https://example.com/rates/{currency}`.

use std::fmt::Write as _;

use millstream_runtime::error::{JobError, JobResult};
use millstream_runtime::value::Str;

use crate::client::{is_address, without_secrets};

/// The parts between the columns, and the columns.
#[derive(Debug)]
pub(crate) struct Address {
    /// What stands before each column, and which that is.
    parts: Vec<(String, usize)>,
    end: String,
    columns: Vec<String>,
    /// Without what may be secret.
    shown: String,
}

impl Address {
    /// Every one of `columns` must be there, and no other.
    pub(crate) fn new(url: &str, columns: &[String]) -> JobResult<Self> {
        let shown = without_secrets(url);
        if !is_address(url) {
            return Err(JobError::new(format!(
                "the option `url` takes an address such as `https://example.com/rates/{{currency}}`, not `{shown}`"
            )));
        }
        let (mut parts, mut rest) = (Vec::new(), url);
        while let Some((before, behind)) = rest.split_once('{') {
            let Some((name, behind)) = behind.split_once('}') else {
                return Err(JobError::new(format!("a `{{` in the option `url` has no `}}`: `{shown}`")));
            };
            let Some(column) = columns.iter().position(|column| column == name.trim()) else {
                return Err(JobError::new(format!("`{{{name}}}` in the option `url` is no column of the key")));
            };
            parts.push((before.to_owned(), column));
            rest = behind;
        }
        if let Some((_, missing)) = columns.iter().enumerate().find(|(index, _)| !parts.iter().any(|(_, column)| column == index))
        {
            return Err(JobError::new(format!("`{{{missing}}}` is missing in the option `url`: it is a column of the key")));
        }
        Ok(Address { parts, end: rest.to_owned(), columns: columns.to_vec(), shown })
    }

    /// The address of a key. None: a column of it is no name in a path (empty, `.` or `..`), and the address would be that of
    /// something else, such as the list of all rows.
    pub(crate) fn of(&self, key: &[Str]) -> Option<String> {
        let mut url = String::new();
        for (before, column) in &self.parts {
            url.push_str(before);
            for byte in key.get(*column).map_or("", Str::as_str).bytes() {
                match byte {
                    b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => url.push(char::from(byte)),
                    _ => drop(write!(url, "%{byte:02X}")),
                }
            }
        }
        url.push_str(&self.end);
        (nameless(&url) <= nameless(&self.shown)).then_some(url)
    }

    /// For messages: `https://example.com/rates/{currency} with currency = EUR`.
    pub(crate) fn shown(&self, key: &[Str]) -> String {
        let values: Vec<String> =
            self.columns.iter().zip(key).map(|(column, value)| format!("{column} = {}", value.as_str())).collect();
        format!("{} with {}", self.shown, values.join(", "))
    }
}

/// How many parts of the path are none that something can be called by.
fn nameless(url: &str) -> usize {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    path.split('/').filter(|part| matches!(*part, "" | "." | "..")).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn keys_stand_in_the_address_and_cannot_leave_their_place() {
        let address = Address::new("https://h/{b}/x?a={a}&t=secret", &columns(&["a", "b"])).unwrap();
        let key = [Str::from("ü&/ ?#%.."), Str::from("x/../y")];
        let expected = "https://h/x%2F..%2Fy/x?a=%C3%BC%26%2F%20%3F%23%25..&t=secret";
        assert_eq!(address.of(&key).as_deref(), Some(expected));
        assert_eq!(address.shown(&key), "https://h/{b}/x with a = ü&/ ?#%.., b = x/../y");
    }

    #[test]
    fn what_is_no_name_in_a_path_has_no_address() {
        let address = Address::new("https://me:x@h/v1//{b}?a={a}", &columns(&["a", "b"])).unwrap();
        let of = |a: &str, b: &str| address.of(&[Str::from(a), Str::from(b)]);
        for name in ["", ".", ".."] {
            assert_eq!(of("a", name), None, "`{name}`");
            assert_eq!(of(name, "..."), Some(format!("https://me:x@h/v1//...?a={name}")));
        }
    }

    #[test]
    fn wrong_addresses_are_refused_with_the_reason() {
        for (url, reason) in [
            ("h/{a}", "takes an address"),
            ("https://h/{a", "has no `}`"),
            ("https://h/{b}", "`{b}` in the option `url` is no column"),
            ("https://h/", "`{a}` is missing"),
        ] {
            let error = Address::new(url, &columns(&["a"])).unwrap_err();
            assert!(error.message().contains(reason), "{url}: {error}");
        }
    }
}
