//! Exact decimal numbers with a scale that is known at compile time.

use std::fmt;

use ethnum::I256;

use super::{EvalError, ParseError, Str};

/// `decimal(P, S)`: the unscaled value. `Decimal::<5, 2>(1250)` is 12.50.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal<const P: u8, const S: u8>(pub i128);

const POWERS: [i128; 39] = {
    let mut powers = [1i128; 39];
    let mut n = 1;
    while n < 39 {
        powers[n] = powers[n - 1] * 10;
        n += 1;
    }
    powers
};

/// 10 to the power of `n`, which is at most 38.
#[inline]
pub(crate) const fn pow10(n: u32) -> i128 {
    POWERS[n as usize]
}

/// 10 to the power of `n`, which is at most 76.
pub(super) fn wide_pow10(n: u32) -> I256 {
    if n <= 38 { I256::from(pow10(n)) } else { I256::from(pow10(38)) * I256::from(pow10(n - 38)) }
}

/// `a / b`, rounded half up (away from zero). `b` is not 0.
pub(crate) fn divide_half_up(a: I256, b: I256) -> I256 {
    let (quotient, rest) = (a / b, a % b);
    // Compare without doubling the rest: it may be close to the largest value.
    let (rest, half) = (rest.abs(), b.abs());
    if rest >= half - rest {
        quotient + if (a < I256::ZERO) == (b < I256::ZERO) { I256::ONE } else { -I256::ONE }
    } else {
        quotient
    }
}

fn narrow_divide(a: i128, b: i128) -> i128 {
    let (quotient, rest) = (a / b, (a % b).abs());
    if rest >= b - rest { quotient + a.signum() } else { quotient }
}

impl<const P: u8, const S: u8> Decimal<P, S> {
    /// The value if it has at most P digits.
    #[inline]
    pub fn checked(unscaled: i128) -> Result<Self, EvalError> {
        if unscaled.unsigned_abs() < pow10(P as u32).unsigned_abs() {
            Ok(Decimal(unscaled))
        } else {
            Err(EvalError::overflow(format_args!("decimal({P}, {S})")))
        }
    }

    pub(crate) fn checked_wide(unscaled: I256) -> Result<Self, EvalError> {
        match i128::try_from(unscaled) {
            Ok(value) => Self::checked(value),
            Err(_) => Err(EvalError::overflow(format_args!("decimal({P}, {S})"))),
        }
    }

    /// A value of another scale, rounded half up.
    pub fn rescale(unscaled: i128, scale: u8) -> Result<Self, EvalError> {
        if scale == S {
            Self::checked(unscaled)
        } else if scale < S {
            match unscaled.checked_mul(pow10((S - scale) as u32)) {
                Some(value) => Self::checked(value),
                None => Err(EvalError::overflow(format_args!("decimal({P}, {S})"))),
            }
        } else {
            Self::checked(narrow_divide(unscaled, pow10((scale - S) as u32)))
        }
    }

    /// Reads `12.50`, `-3`, `1.5e3`. Digits beyond the scale are an error unless they are zeros.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let (value, exact) = Self::parse_rounded(text)?;
        if exact { Ok(value) } else { Err(ParseError(format!("has more than {S} fraction digits").into())) }
    }

    /// Reads a number and rounds it half up to the scale. Tells whether nothing was lost.
    pub fn parse_rounded(text: &str) -> Result<(Self, bool), ParseError> {
        const NOT: ParseError = ParseError::new("is not a decimal number");
        let out_of_range = || ParseError(format!("does not fit into decimal({P}, {S})").into());
        let bytes = text.as_bytes();
        let (negative, mut at) = match bytes.first() {
            Some(b'-') => (true, 1),
            Some(b'+') => (false, 1),
            _ => (false, 0),
        };
        let (mut value, mut kept, mut shift, mut lost) = (0i128, 0u32, 0i64, false);
        let (mut any, mut fraction) = (false, false);
        while at < bytes.len() {
            match bytes[at] {
                digit @ b'0'..=b'9' => {
                    any = true;
                    if kept < 38 {
                        value = value * 10 + (digit - b'0') as i128;
                        kept += (value != 0) as u32;
                        shift -= fraction as i64;
                    } else {
                        lost |= digit != b'0';
                        shift += !fraction as i64;
                    }
                }
                b'.' if !fraction => fraction = true,
                b'e' | b'E' if any => break,
                _ => return Err(NOT),
            }
            at += 1;
        }
        if !any {
            return Err(NOT);
        }
        if at < bytes.len() {
            let exponent: i64 = text[at + 1..].parse().map_err(|_| NOT)?;
            shift = shift.saturating_add(exponent);
        }
        // value * 10^shift is the number; value * 10^(shift + S) is the unscaled result.
        let shift = shift.saturating_add(S as i64);
        let unscaled = if value == 0 {
            0
        } else if shift >= 0 {
            if lost || shift > 38 {
                return Err(out_of_range());
            }
            value.checked_mul(pow10(shift as u32)).ok_or_else(out_of_range)?
        } else if shift < -38 {
            lost = true;
            0
        } else {
            let divisor = pow10(-shift as u32);
            lost |= value % divisor != 0;
            narrow_divide(value, divisor)
        };
        let value = Self::checked(if negative { -unscaled } else { unscaled }).map_err(|_| out_of_range())?;
        Ok((value, !lost))
    }

    /// The nearest float.
    pub fn to_f64(self) -> f64 {
        // Both operands exact: one rounding, so the result is the nearest.
        if self.0.unsigned_abs() <= 1 << 53 && S <= 22 {
            return self.0 as f64 / pow10(S as u32) as f64;
        }
        let mut text = Str::default();
        self.write(&mut text);
        text.parse().unwrap_or(f64::NAN)
    }

    /// Appends the number with exactly S fraction digits.
    pub fn write(self, out: &mut impl fmt::Write) {
        let (whole, rest) =
            (self.0.unsigned_abs() / pow10(S as u32).unsigned_abs(), self.0.unsigned_abs() % pow10(S as u32).unsigned_abs());
        let mut buffer = itoa::Buffer::new();
        // Writing to memory cannot fail.
        let _ = out.write_str(if self.0 < 0 { "-" } else { "" });
        let _ = out.write_str(buffer.format(whole));
        if S > 0 {
            let digits = buffer.format(rest);
            let _ = out.write_str(".");
            let _ = out.write_str(&"00000000000000000000000000000000000000"[..S as usize - digits.len()]);
            let _ = out.write_str(digits);
        }
    }
}

impl<const P: u8, const S: u8> fmt::Display for Decimal<P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_exact_in_both_directions() {
        for text in ["0.00", "12.50", "-0.05", "999.99", "-999.99"] {
            assert_eq!(Decimal::<5, 2>::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Decimal::<10, 1>::parse("0.1").unwrap(), Decimal(1));
        assert_eq!(Decimal::<10, 1>::parse("1e2").unwrap(), Decimal(1000));
        assert_eq!(Decimal::<10, 1>::parse("1.50e1").unwrap(), Decimal(150));
        assert_eq!(Decimal::<10, 0>::parse("+7").unwrap(), Decimal(7));
        assert_eq!(Decimal::<38, 0>::parse("99999999999999999999999999999999999999").unwrap().0, pow10(38) - 1);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for text in ["", "-", ".", "1.2.3", "abc", "1e", "0x10", "1 ", "1000", "1e3", "1e999999999999", "NaN"] {
            assert!(Decimal::<5, 2>::parse(text).is_err(), "{text}");
        }
        assert_eq!(Decimal::<5, 2>::parse("0.005").unwrap_err().to_string(), "has more than 2 fraction digits");
        assert_eq!(Decimal::<5, 2>::parse("0.0500").unwrap(), Decimal(5));
        assert!(Decimal::<38, 0>::parse("100000000000000000000000000000000000000").is_err());
    }

    #[test]
    fn rounding_is_half_up_in_magnitude() {
        let round = |text| Decimal::<5, 1>::parse_rounded(text).unwrap().0.0;
        assert_eq!([round("0.25"), round("-0.25"), round("0.24999"), round("1e-60")], [3, -3, 2, 0]);
        assert_eq!(Decimal::<5, 0>::rescale(15, 1).unwrap(), Decimal(2));
        assert_eq!(Decimal::<5, 0>::rescale(-15, 1).unwrap(), Decimal(-2));
        assert_eq!(divide_half_up(I256::from(-15), I256::from(10)), I256::from(-2));
        assert_eq!(divide_half_up(I256::from(14), I256::from(-10)), I256::from(-1));
    }
}
