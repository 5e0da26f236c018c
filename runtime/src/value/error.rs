//! What goes wrong when an expression is computed.

use std::borrow::Cow;
use std::fmt;

/// An expression that has no value: overflow, division by zero, a cast that does not fit. As large as one pointer, so
/// that results stay small on the way without errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalError(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    reason: Cow<'static, str>,
    /// The text of the expression and where it stands.
    at: Option<(&'static str, &'static str)>,
}

impl EvalError {
    /// An error with this reason, not yet tied to a place.
    #[cold]
    pub fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        EvalError(Box::new(Inner { reason: reason.into(), at: None }))
    }

    /// Ties the error to the expression `text` at `place` (`orders.flow:12:5`). The first, innermost, call counts.
    #[cold]
    #[must_use]
    pub fn at(mut self, text: &'static str, place: &'static str) -> Self {
        if self.0.at.is_none() {
            self.0.at = Some((text, place));
        }
        self
    }

    /// A sum, product or the like that its type cannot hold.
    #[cold]
    pub fn overflow(ty: impl fmt::Display) -> Self {
        EvalError::new(format!("the result does not fit into {ty}"))
    }

    /// `x / 0` and `x % 0`.
    #[cold]
    pub fn division_by_zero() -> Self {
        EvalError::new("division by zero")
    }

    /// Why, without the place.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// Text of the expression, where it is known.
    pub fn expression(&self) -> Option<&'static str> {
        self.0.at.map(|(text, _)| text)
    }

    /// File, line and column of the expression, where they are known.
    pub fn place(&self) -> Option<&'static str> {
        self.0.at.map(|(_, place)| place)
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.at {
            Some((text, place)) => write!(f, "{place}: `{text}`: {}", self.0.reason),
            None => f.write_str(&self.0.reason),
        }
    }
}

impl std::error::Error for EvalError {}

impl From<super::ParseError> for EvalError {
    #[cold]
    fn from(error: super::ParseError) -> Self {
        EvalError::new(error.0)
    }
}

/// Ties the error of a result to its place. What generated code puts behind every call that can fail.
pub trait At {
    /// As [`EvalError::at`].
    #[must_use]
    fn at(self, text: &'static str, place: &'static str) -> Self;
}

impl<T> At for Result<T, EvalError> {
    #[inline]
    fn at(self, text: &'static str, place: &'static str) -> Self {
        match self {
            Ok(value) => Ok(value),
            Err(error) => Err(error.at(text, place)),
        }
    }
}

/// The value of an accumulator whose column may not be null.
pub trait RequiredAt<T> {
    /// The value; a null is an error of the expression `text` at `place`.
    fn required(self, text: &'static str, place: &'static str) -> Result<T, EvalError>;
}

impl<T> RequiredAt<T> for Result<Option<T>, EvalError> {
    #[inline]
    fn required(self, text: &'static str, place: &'static str) -> Result<T, EvalError> {
        self.and_then(required).at(text, place)
    }
}

/// The value of something that may be null where the column may not.
#[inline]
pub fn required<T>(value: Option<T>) -> Result<T, EvalError> {
    value.ok_or_else(|| EvalError::new("the value is null, but it may not be"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_place_wins_and_is_shown() {
        let error = EvalError::division_by_zero().at("a / b", "t.flow:3:7").at("c + a / b", "t.flow:3:3");
        assert_eq!(error.to_string(), "t.flow:3:7: `a / b`: division by zero");
        assert_eq!(size_of::<EvalError>(), size_of::<usize>());
    }
}
