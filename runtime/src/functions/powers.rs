//! `sqrt`, `power`, `exp`, `ln`, `log10`, `log2`, `pi`, and the functions of angles

use super::FunctionSpec;

pub(super) const SPECS: &[FunctionSpec] = &[
    FunctionSpec::new(
        "math",
        "sqrt(value: float64) -> float64",
        "The square root. Of a negative number NaN.",
        &[("sqrt(9.0)", "3.0")],
    ),
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
        "atan2(y: float64, x: float64) -> float64",
        "The angle in radians of the point (x, y).",
        &[("atan2(0.0, 1.0)", "0.0")],
    ),
    FunctionSpec::new("math", "radians(degrees: float64) -> float64", "Degrees as radians.", &[("radians(0.0)", "0.0")]),
    FunctionSpec::new("math", "degrees(radians: float64) -> float64", "Radians as degrees.", &[("degrees(pi())", "180.0")]),
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
        power(base, exponent) = base.powf(exponent), "A power.";
        exp(value) = value.exp(), "A power of e.";
        ln(value) = value.ln(), "The natural logarithm.";
        log10(value) = value.log10(), "The logarithm to base 10.";
        log2(value) = value.log2(), "The logarithm to base 2.";
        pi() = std::f64::consts::PI, "The number pi.";
        sin(angle) = angle.sin(), "The sine.";
        cos(angle) = angle.cos(), "The cosine.";
        tan(angle) = angle.tan(), "The tangent.";
        atan2(y, x) = y.atan2(x), "The angle of a point.";
        radians(degrees) = degrees.to_radians(), "Degrees as radians.";
        degrees(radians) = radians.to_degrees(), "Radians as degrees.";
    }

    #[test]
    fn edges_follow_ieee_754() {
        assert!(sqrt(-1.0).is_nan() && ln(-1.0).is_nan());
        assert_eq!((ln(0.0), power(2.0, 10.0), log10(1000.0), degrees(pi())), (f64::NEG_INFINITY, 1024.0, 3.0, 180.0));
    }
}
