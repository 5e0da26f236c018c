//! Macros around pipelines in Rust programs, one for each feature that a connector or function may need: with the feature they
//! give what they are given, without it they say that it is missing, and nothing else.

#[rustfmt::skip]
macro_rules! gate {
    ($dollar:tt $name:ident $feature:literal) => {
        #[cfg(feature = $feature)]
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $name {
            ($dollar($dollar code:tt)*) => { $dollar($dollar code)* };
        }

        #[cfg(not(feature = $feature))]
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $name {
            ($dollar($dollar code:tt)*) => {
                ::core::compile_error!(::core::concat!(
                    "this pipeline needs the feature `", $feature, "` of the crate millstream\nhelp: write `features = [\"", $feature,
                    "\"]` beside its version in Cargo.toml"
                ));
            };
        }
    };
}

gate!($ needs_http "http");
gate!($ needs_zones "zones");
