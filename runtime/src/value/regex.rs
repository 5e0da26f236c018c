//! Regular expressions: literals compiled once, others cached per thread.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::EvalError;

/// A compiled pattern. Generated code keeps one per literal in a `static`.
#[derive(Clone, Debug)]
pub struct Regex(pub(crate) regex::Regex);

/// How many patterns that come from data a thread remembers.
const CACHED: usize = 64;

thread_local! {
    static CACHE: RefCell<HashMap<String, Arc<Regex>>> = RefCell::new(HashMap::new());
}

impl Regex {
    /// Compiles a pattern.
    pub fn new(pattern: &str) -> Result<Self, EvalError> {
        // The engine's message has several lines with a marker; its last line is the reason.
        regex::Regex::new(pattern).map(Regex).map_err(|error| {
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
            EvalError::new(format!("`{pattern}` is not a regular expression: {reason}"))
        })
    }

    /// The pattern of a literal, which the compiler has checked.
    ///
    /// # Panics
    /// Where the compiler has not: that would be a mistake of the compiler.
    pub fn literal(pattern: &'static str) -> Self {
        match Regex::new(pattern) {
            Ok(regex) => regex,
            Err(error) => panic!("a literal pattern was not checked: {error}"),
        }
    }

    /// A pattern that is known only when the row is there. Compiled once per thread as long as few are in use.
    pub fn dynamic(pattern: &str) -> Result<Arc<Self>, EvalError> {
        CACHE.with_borrow_mut(|cache| {
            if let Some(regex) = cache.get(pattern) {
                return Ok(regex.clone());
            }
            let regex = Arc::new(Regex::new(pattern)?);
            if cache.len() >= CACHED {
                cache.clear();
            }
            cache.insert(pattern.to_owned(), regex.clone());
            Ok(regex)
        })
    }

    /// Whether the pattern is found anywhere in the text.
    #[inline]
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// [`Regex::literal`], as generated code calls it.
pub fn pattern(pattern: &'static str) -> Regex {
    Regex::literal(pattern)
}

/// [`Regex::dynamic`], as generated code calls it.
pub fn dynamic_pattern(pattern: &str) -> Result<Arc<Regex>, EvalError> {
    Regex::dynamic(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_pattern_is_named() {
        let error = Regex::dynamic("a(b").unwrap_err();
        assert_eq!(error.reason(), "`a(b` is not a regular expression: unclosed group");
        assert!(Regex::dynamic("^a+$").unwrap().is_match("aaa"));
    }
}
