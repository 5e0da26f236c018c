//! `bit_and`, `bit_or`, `bit_xor`, `bit_not`, `bit_count`, `shift_left`, `shift_right`

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new("bits", "bit_and(a: int64, b: int64) -> int64", "The bits that both have.", &[("bit_and(12, 10)", "8")]),
    FunctionSpec::new(
        "bits",
        "bit_or(a: int64, b: int64) -> int64",
        "The bits that one of them has.",
        &[("bit_or(12, 10)", "14")],
    ),
    FunctionSpec::new(
        "bits",
        "bit_xor(a: int64, b: int64) -> int64",
        "The bits that only one of them has.",
        &[("bit_xor(12, 10)", "6")],
    ),
    FunctionSpec::new("bits", "bit_not(value: int64) -> int64", "All other bits.", &[("bit_not(0)", "-1")]),
    FunctionSpec::new(
        "bits",
        "bit_count(value: int64) -> int64",
        "How many bits are set, of a negative value in its two's complement.",
        &[("bit_count(255)", "8")],
    ),
    FunctionSpec::new(
        "bits",
        "shift_left(value: int64, count: int64) -> int64",
        "The bits moved to the left; those that leave the 64 bits are lost. A count below 0 or above 63 is an error.",
        &[("shift_left(1, 4)", "16")],
    )
    .fallible(),
    FunctionSpec::new(
        "bits",
        "shift_right(value: int64, count: int64) -> int64",
        "The bits moved to the right; the sign stays. A count below 0 or above 63 is an error.",
        &[("shift_right(16, 4)", "1"), ("shift_right(-16, 2)", "-4")],
    )
    .fallible(),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    use crate::value::EvalError;

    /// The bits that both have.
    #[inline]
    pub fn bit_and(a: i64, b: i64) -> i64 {
        a & b
    }

    /// The bits that one of them has.
    #[inline]
    pub fn bit_or(a: i64, b: i64) -> i64 {
        a | b
    }

    /// The bits that only one of them has.
    #[inline]
    pub fn bit_xor(a: i64, b: i64) -> i64 {
        a ^ b
    }

    /// All other bits.
    #[inline]
    pub fn bit_not(value: i64) -> i64 {
        !value
    }

    /// How many bits are set.
    #[inline]
    pub fn bit_count(value: i64) -> i64 {
        i64::from(value.count_ones())
    }

    /// The bits moved to the left.
    #[inline]
    pub fn shift_left(value: i64, count: i64) -> Result<i64, EvalError> {
        u32::try_from(count).ok().and_then(|places| value.checked_shl(places)).ok_or_else(|| out_of_range(count))
    }

    /// The bits moved to the right.
    #[inline]
    pub fn shift_right(value: i64, count: i64) -> Result<i64, EvalError> {
        u32::try_from(count).ok().and_then(|places| value.checked_shr(places)).ok_or_else(|| out_of_range(count))
    }

    #[cold]
    fn out_of_range(count: i64) -> EvalError {
        EvalError::new(format!("bits can be shifted by 0 to 63 places, not by {count}"))
    }

    #[test]
    fn bits_of_both_signs() {
        assert_eq!((bit_and(12, 10), bit_or(12, 10), bit_xor(12, 10), bit_not(0), bit_count(-1)), (8, 14, 6, -1, 64));
        assert_eq!((shift_left(1, 63), shift_right(-16, 2)), (Ok(i64::MIN), Ok(-4)));
        assert!(shift_left(1, 64).is_err() && shift_right(1, -1).is_err());
    }
}
