//! Values as text: f-strings, casts to string, CSV fields; and `like`.

use super::{Date, Decimal, Duration, FloatKey, Json, Str, Time, Timestamp, Uuid};

/// A value that has a text form: what `cast(x, string)` gives.
pub trait Print {
    /// Appends the text form.
    fn print(&self, out: &mut Str);
}

/// `f"{a}-{b}"`: the parts one after the other.
pub fn format(parts: &[&dyn Print]) -> Str {
    let mut out = Str::default();
    for part in parts {
        part.print(&mut out);
    }
    out
}

/// The text form of one value.
#[inline]
pub fn print<T: Print + ?Sized>(value: &T) -> Str {
    let mut out = Str::default();
    value.print(&mut out);
    out
}

/// A value as text behind `Display`, for types whose `Display` is not their text form (floats, bytes, lists).
pub fn text<T: Print + ?Sized>(value: &T) -> impl std::fmt::Display {
    print(value)
}

/// `format_text!("{}-{}", a, b)`: as `format!`, but makes a [`Str`].
#[macro_export]
#[doc(hidden)]
macro_rules! format_text {
    ($($arguments:tt)*) => {
        $crate::value::text::from_arguments(::std::format_args!($($arguments)*))
    };
}

/// What `format_text!` calls.
pub fn from_arguments(arguments: std::fmt::Arguments<'_>) -> Str {
    let mut out = Str::default();
    // Writing to memory cannot fail.
    let _ = std::fmt::Write::write_fmt(&mut out, arguments);
    out
}

impl<T: Print + ?Sized> Print for &T {
    fn print(&self, out: &mut Str) {
        (**self).print(out);
    }
}

impl Print for str {
    fn print(&self, out: &mut Str) {
        out.push_str(self);
    }
}

impl Print for String {
    fn print(&self, out: &mut Str) {
        out.push_str(self);
    }
}

impl Print for Str {
    fn print(&self, out: &mut Str) {
        out.push_str(self);
    }
}

impl Print for bool {
    fn print(&self, out: &mut Str) {
        out.push_str(if *self { "true" } else { "false" });
    }
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Print for $ty {
            fn print(&self, out: &mut Str) {
                out.push_str(itoa::Buffer::new().format(*self));
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! floats {
    ($($ty:ty),*) => {$(
        impl Print for $ty {
            fn print(&self, out: &mut Str) {
                out.push_str(if self.is_nan() {
                    "NaN"
                } else if self.is_infinite() {
                    if *self > 0.0 { "Infinity" } else { "-Infinity" }
                } else {
                    return out.push_str(zmij::Buffer::new().format_finite(*self));
                });
            }
        }
    )*};
}
floats!(f32, f64);

impl<F: super::Float + Print> Print for FloatKey<F> {
    fn print(&self, out: &mut Str) {
        self.get().print(out);
    }
}

impl<const P: u8, const S: u8> Print for Decimal<P, S> {
    fn print(&self, out: &mut Str) {
        self.write(out);
    }
}

impl Print for Timestamp {
    fn print(&self, out: &mut Str) {
        self.with_text(|text| out.push_str(text));
    }
}

macro_rules! by_display {
    ($($ty:ty),*) => {$(
        impl Print for $ty {
            fn print(&self, out: &mut Str) {
                use std::fmt::Write as _;
                // Writing to memory cannot fail.
                let _ = write!(out, "{self}");
            }
        }
    )*};
}
by_display!(Date, Time, Duration, Uuid);

impl Print for Json {
    fn print(&self, out: &mut Str) {
        out.push_str(self.as_str());
    }
}

/// SQL `like`: `%` is any text, `_` any one character, `\` takes the next character as it is.
pub fn like(text: &str, pattern: &str) -> bool {
    // Two cursors and one place to come back to: linear for one `%`, text times pattern at worst.
    let (mut text, mut pattern) = (text.chars(), pattern.chars());
    let mut retry: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let mut rest = pattern.clone();
        let matched = match rest.next() {
            Some('%') => {
                retry = Some((text.clone(), rest.clone()));
                pattern = rest;
                continue;
            }
            None => text.as_str().is_empty(),
            Some('_') => text.next().is_some(),
            Some('\\') => text.next() == Some(rest.next().unwrap_or('\\')),
            Some(expected) => text.next() == Some(expected),
        };
        let ended = pattern.as_str().is_empty();
        if matched && ended {
            return true;
        }
        if matched {
            pattern = rest;
            continue;
        }
        let Some((mut from, after)) = retry.take() else { return false };
        if from.next().is_none() {
            return false;
        }
        text = from.clone();
        pattern = after.clone();
        retry = Some((from, after));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_follows_sql() {
        for (text, pattern, expected) in [
            ("", "", true),
            ("", "%", true),
            ("abc", "abc", true),
            ("abc", "ab", false),
            ("abc", "a%", true),
            ("abc", "%c", true),
            ("abc", "a_c", true),
            ("aé", "a_", true),
            ("abcabd", "%abd", true),
            ("abab", "%ab%ab%", true),
            ("ab", "%ab%ab%", false),
            ("a%c", r"a\%c", true),
            ("abc", r"a\%c", false),
            ("abc", "_", false),
            ("abc", "%%%", true),
            ("aXb", "a%b%", true),
        ] {
            assert_eq!(like(text, pattern), expected, "{text} like {pattern}");
        }
        let long = "a".repeat(20_000);
        assert!(!like(&long, "%a%a%a%a%b"));
    }

    #[test]
    fn text_forms() {
        assert_eq!(format(&[&"x=", &1i64, &" ", &true, &' '.to_string().as_str(), &1.5f64]), "x=1 true 1.5");
        assert_eq!(print(&1.0f64), "1.0");
        assert_eq!(print(&f64::NEG_INFINITY), "-Infinity");
        assert_eq!(print(&Timestamp(0)), "1970-01-01T00:00:00Z");
        assert_eq!(print(&Decimal::<9, 3>(2_224_600)), "2224.600");
        assert_eq!(print(&b"foo".to_vec()), "Zm9v");
    }
}
