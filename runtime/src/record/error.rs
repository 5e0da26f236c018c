//! Why a record cannot be read: which field, which value, and what is wrong with it.

use std::borrow::Cow;
use std::fmt;

/// A record that cannot be decoded. As large as one pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    /// From the outermost record inwards; empty where no field is to blame.
    path: String,
    /// The raw value, shortened; empty where there is none.
    value: String,
    reason: Cow<'static, str>,
}

/// How many bytes of a raw value are shown.
const SHOWN: usize = 80;

impl FieldError {
    /// An error of the whole record.
    #[cold]
    pub fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        FieldError(Box::new(Inner { path: String::new(), value: String::new(), reason: reason.into() }))
    }

    /// An error of this raw value.
    #[cold]
    pub fn value(raw: &str, reason: impl Into<Cow<'static, str>>) -> Self {
        let mut value: String = raw.chars().take(SHOWN).collect();
        if value.len() < raw.len() {
            value.push('…');
        }
        FieldError(Box::new(Inner { path: String::new(), value, reason: reason.into() }))
    }

    /// The same error, inside of the field of this name.
    #[cold]
    #[must_use]
    pub fn within(mut self, field: &str) -> Self {
        // A path is as long as it is deep: at most the depth limit.
        let path = &mut self.0.path;
        *path = match path.as_bytes().first() {
            None => field.to_owned(),
            Some(b'[') => format!("{field}{path}"),
            Some(_) => format!("{field}.{path}"),
        };
        self
    }

    /// The same error, inside of the element of this number.
    #[cold]
    #[must_use]
    pub fn within_element(self, index: usize) -> Self {
        self.within(&format!("[{index}]"))
    }

    /// The field: `bid.price`. Empty where no field is to blame.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// The raw value, shortened to 80 characters. Empty where there is none.
    pub fn raw(&self) -> &str {
        &self.0.value
    }

    /// What is wrong with it.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.path.is_empty() {
            write!(f, "field `{}`: ", self.0.path)?;
        }
        if !self.0.value.is_empty() {
            write!(f, "`{}` ", self.0.value)?;
        }
        f.write_str(&self.0.reason)
    }
}

impl std::error::Error for FieldError {}
