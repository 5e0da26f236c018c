//! `sqrt`, `cbrt`, `power`, `exp`, `ln`, `log`, `log10`, `log2`, `pi`, `is_nan`, and the functions of angles

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new(
        "math",
        "sqrt(value: float64) -> float64",
        "The square root. Of a negative number NaN.",
        &[("sqrt(9.0)", "3.0")],
    ),
    FunctionSpec::new("math", "cbrt(value: float64) -> float64", "The cube root.", &[("cbrt(-27.0)", "-3.0")]),
    FunctionSpec::new(
        "math",
        "power(base: float64, exponent: float64) -> float64",
        "The base to the power of the exponent.",
        &[("power(2.0, 10.0)", "1024.0")],
    ),
    FunctionSpec::new(
        "math",
        "exp(value: float64) -> float64",
        "The number e to the power of the value.",
        &[("exp(0.0)", "1.0")],
    ),
    FunctionSpec::new(
        "math",
        "ln(value: float64) -> float64",
        "The natural logarithm. Of 0 -Infinity, of a negative number NaN.",
        &[("ln(1.0)", "0.0")],
    ),
    FunctionSpec::new(
        "math",
        "log(base: float64, value: float64) -> float64",
        "The logarithm to this base. Of 0 -Infinity, of a negative number NaN.",
        &[("log(2.0, 8.0)", "3.0")],
    ),
    FunctionSpec::new(
        "math",
        "log10(value: float64) -> float64",
        "The logarithm to base 10. Of 0 -Infinity, of a negative number NaN.",
        &[("log10(1000.0)", "3.0")],
    ),
    FunctionSpec::new(
        "math",
        "log2(value: float64) -> float64",
        "The logarithm to base 2. Of 0 -Infinity, of a negative number NaN.",
        &[("log2(8.0)", "3.0")],
    ),
    FunctionSpec::new("math", "pi() -> float64", "The number pi.", &[("round(pi(), 5)", "3.14159")]),
    FunctionSpec::new("math", "sin(angle: float64) -> float64", "The sine of an angle in radians.", &[("sin(0.0)", "0.0")]),
    FunctionSpec::new("math", "cos(angle: float64) -> float64", "The cosine of an angle in radians.", &[("cos(0.0)", "1.0")]),
    FunctionSpec::new("math", "tan(angle: float64) -> float64", "The tangent of an angle in radians.", &[("tan(0.0)", "0.0")]),
    FunctionSpec::new(
        "math",
        "asin(value: float64) -> float64",
        "The angle in radians with this sine. Beyond -1 and 1 NaN.",
        &[("asin(1.0) * 2", "pi()")],
    ),
    FunctionSpec::new(
        "math",
        "acos(value: float64) -> float64",
        "The angle in radians with this cosine. Beyond -1 and 1 NaN.",
        &[("acos(-1.0)", "pi()")],
    ),
    FunctionSpec::new(
        "math",
        "atan(value: float64) -> float64",
        "The angle in radians with this tangent.",
        &[("atan(1.0) * 4", "pi()")],
    ),
    FunctionSpec::new(
        "math",
        "atan2(y: float64, x: float64) -> float64",
        "The angle in radians of the point (x, y).",
        &[("atan2(0.0, 1.0)", "0.0")],
    ),
    FunctionSpec::new("math", "radians(degrees: float64) -> float64", "Degrees as radians.", &[("radians(0.0)", "0.0")]),
    FunctionSpec::new("math", "degrees(radians: float64) -> float64", "Radians as degrees.", &[("degrees(pi())", "180.0")]),
    FunctionSpec::new(
        "math",
        "is_nan(value: float64) -> bool",
        "Whether the value is no number, like the result of `0.0 / 0.0`. NaN is equal to itself and greater than all numbers.",
        &[("is_nan(sqrt(-1.0))", "true"), ("sqrt(-1.0) > 1e300", "true")],
    ),
    FunctionSpec::new(
        "math",
        "is_finite(value: float64) -> bool",
        "Whether the value is neither NaN nor infinite.",
        &[("is_finite(ln(0.0))", "false")],
    ),
];

#[cfg(feature = "engine")]
pub use engine::*;

#[cfg(feature = "engine")]
mod engine {
    macro_rules! of_floats {
        ($($name:ident($($parameter:ident),*) = $value:expr, $doc:literal;)*) => {$(
            #[doc = $doc]
            #[inline]
            pub fn $name($($parameter: f64),*) -> f64 {
                $value
            }
        )*};
    }
    of_floats! {
        sqrt(value) = value.sqrt(), "The square root.";
        cbrt(value) = value.cbrt(), "The cube root.";
        power(base, exponent) = base.powf(exponent), "A power.";
        exp(value) = value.exp(), "A power of e.";
        ln(value) = value.ln(), "The natural logarithm.";
        log(base, value) = logarithm(base, value), "A logarithm.";
        log10(value) = value.log10(), "The logarithm to base 10.";
        log2(value) = value.log2(), "The logarithm to base 2.";
        pi() = std::f64::consts::PI, "The number pi.";
        sin(angle) = angle.sin(), "The sine.";
        cos(angle) = angle.cos(), "The cosine.";
        tan(angle) = angle.tan(), "The tangent.";
        asin(value) = value.asin(), "The inverse of the sine.";
        acos(value) = value.acos(), "The inverse of the cosine.";
        atan(value) = value.atan(), "The inverse of the tangent.";
        atan2(y, x) = y.atan2(x), "The angle of a point.";
        radians(degrees) = degrees.to_radians(), "Degrees as radians.";
        degrees(radians) = radians.to_degrees(), "Radians as degrees.";
    }

    /// Exact for the bases that have a logarithm of their own.
    fn logarithm(base: f64, value: f64) -> f64 {
        if base == 2.0 {
            value.log2()
        } else if base == 10.0 {
            value.log10()
        } else {
            value.ln() / base.ln()
        }
    }

    /// Whether the value is no number.
    #[inline]
    pub fn is_nan(value: f64) -> bool {
        value.is_nan()
    }

    /// Whether the value is neither NaN nor infinite.
    #[inline]
    pub fn is_finite(value: f64) -> bool {
        value.is_finite()
    }

    #[test]
    fn edges_follow_ieee_754() {
        assert!(sqrt(-1.0).is_nan() && ln(-1.0).is_nan());
        assert!(asin(2.0).is_nan() && is_nan(log(10.0, -1.0)) && !is_finite(ln(0.0)));
        assert_eq!((log(2.0, 8.0), log(10.0, 1e15), cbrt(-27.0)), (3.0, 15.0, -3.0));
        assert_eq!((ln(0.0), power(2.0, 10.0), log10(1000.0), degrees(pi())), (f64::NEG_INFINITY, 1024.0, 3.0, 180.0));
    }
}
