//! Values known at compile time, as Rust literals.

use millstream_runtime::graph::{Literal, Ty};
use proc_macro2::{Literal as Token, TokenStream};
use quote::quote;

use super::types::decimal_parameters;

/// The tokens of a literal of a required type, in the form that expressions use: strings as `&str`, bytes as `&[u8]`.
/// `Null` is `None`.
pub(super) fn tokens(literal: &Literal, ty: &Ty) -> TokenStream {
    match literal {
        Literal::Null => quote!(None),
        Literal::Bool(value) => quote!(#value),
        Literal::Int(value) => number(*value, ty.required()),
        Literal::Float(value) => float(*value, ty.required()),
        Literal::Decimal(value) => decimal(*value, ty.required()),
        Literal::String(text) => quote!(#text),
        Literal::Bytes(bytes) => {
            let bytes = Token::byte_string(bytes);
            quote!(#bytes.as_slice())
        }
        Literal::Date(days) => {
            let days = signed(i128::from(*days));
            quote!(Date(#days))
        }
        Literal::Time(micros) => wrapped(quote!(Time), *micros),
        Literal::Timestamp(micros) => wrapped(quote!(Timestamp), *micros),
        Literal::Duration(micros) => wrapped(quote!(Duration), *micros),
    }
}

/// Microseconds without a suffix, grouped by underscores.
pub(super) fn micros(value: i64) -> TokenStream {
    signed(i128::from(value))
}

fn wrapped(name: TokenStream, value: i64) -> TokenStream {
    let value = signed(i128::from(value));
    quote!(#name(#value))
}

/// An integer literal can also stand where a float or a decimal is meant.
fn number(value: i128, ty: &Ty) -> TokenStream {
    let suffix = match ty {
        Ty::Int8 => "i8",
        Ty::Int16 => "i16",
        Ty::Int32 => "i32",
        Ty::UInt8 => "u8",
        Ty::UInt16 => "u16",
        Ty::UInt32 => "u32",
        Ty::UInt64 => "u64",
        Ty::Float32 | Ty::Float64 => return float(value as f64, ty),
        Ty::Decimal { scale, .. } => return decimal(value.saturating_mul(10i128.saturating_pow(u32::from(*scale))), ty),
        _ => "i64",
    };
    with_suffix(value, suffix)
}

fn float(value: f64, ty: &Ty) -> TokenStream {
    let single = *ty == Ty::Float32;
    let path = if single { quote!(f32) } else { quote!(f64) };
    if value.is_nan() {
        return quote!(#path::NAN);
    }
    if value.is_infinite() || (single && (value as f32).is_infinite()) {
        return if value > 0.0 { quote!(#path::INFINITY) } else { quote!(#path::NEG_INFINITY) };
    }
    let magnitude = if single { Token::f32_suffixed(value.abs() as f32) } else { Token::f64_suffixed(value.abs()) };
    if value.is_sign_negative() { quote!(-#magnitude) } else { quote!(#magnitude) }
}

fn decimal(unscaled: i128, ty: &Ty) -> TokenStream {
    let (precision, scale) = match ty {
        Ty::Decimal { precision, scale } => decimal_parameters(*precision, *scale),
        _ => decimal_parameters(38, 0),
    };
    let unscaled = signed(unscaled);
    quote!(Decimal::<#precision, #scale>(#unscaled))
}

/// An integer without a suffix: its type comes from where it stands.
fn signed(value: i128) -> TokenStream {
    with_suffix(value, "")
}

/// `-1_000_000i64`. The digits are made here; parsing cannot fail on them.
fn with_suffix(value: i128, suffix: &str) -> TokenStream {
    let digits = value.unsigned_abs().to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3 + suffix.len());
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) && digits.len() > 4 {
            grouped.push('_');
        }
        grouped.push(digit);
    }
    if !suffix.is_empty() && digits.len() > 4 {
        grouped.push('_');
    }
    grouped.push_str(suffix);
    let literal: Token = grouped.parse().unwrap_or_else(|_| Token::u128_unsuffixed(value.unsigned_abs()));
    if value < 0 { quote!(-#literal) } else { quote!(#literal) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(literal: Literal, ty: Ty) -> String {
        tokens(&literal, &ty).to_string().replace(' ', "")
    }

    #[test]
    fn extremes_and_signs() {
        assert_eq!(text(Literal::Int(i128::from(i64::MIN)), Ty::Int64), "-9_223_372_036_854_775_808_i64");
        assert_eq!(text(Literal::Int(-5), Ty::Int8), "-5i8");
        assert_eq!(text(Literal::Int(1000), Ty::UInt16), "1000u16");
        assert_eq!(text(Literal::Int(3), Ty::Decimal { precision: 10, scale: 2 }), "Decimal::<10,2>(300)");
        assert_eq!(text(Literal::Float(f64::INFINITY), Ty::Float64), "f64::INFINITY");
        assert_eq!(text(Literal::Float(-0.5), Ty::Float32), "-0.5f32");
        assert_eq!(text(Literal::Decimal(-150), Ty::Decimal { precision: 3, scale: 2 }), "Decimal::<3,2>(-150)");
        assert_eq!(text(Literal::Timestamp(0), Ty::Timestamp), "Timestamp(0)");
    }

    #[test]
    fn text_survives_unchanged() {
        for original in ["测试", "quote'inside", "\\", "\"", "#\"#", "a\nb\r\t\0", "\u{202e}", "{}"] {
            let tokens = tokens(&Literal::String(original.into()), &Ty::String);
            let parsed: syn::LitStr = syn::parse2(tokens).expect("a string literal");
            assert_eq!(parsed.value(), original);
        }
    }
}
