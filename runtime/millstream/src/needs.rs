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

gate!($ needs_disk "disk");
gate!($ needs_http "http");
gate!($ needs_s3 "s3");
gate!($ needs_zones "zones");

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use millstream_runtime::{connectors, functions};

    /// What generated code names and manifests turn on.
    #[test]
    fn every_feature_of_a_descriptor_has_its_macro_and_is_one_of_this_crate() {
        let of_connectors = connectors::CONNECTORS.iter().filter_map(|connector| connector.feature);
        let of_functions = functions::FUNCTIONS.iter().filter_map(|function| function.feature);
        let of_jobs = ["disk"];
        let features: BTreeSet<&str> = of_connectors.chain(of_functions).chain(of_jobs).collect();
        assert!(features.len() >= 2, "{features:?}");
        let manifest = include_str!("../Cargo.toml");
        for feature in features {
            let gate = format!("gate!($ needs_{feature} \"{feature}\");");
            assert!(include_str!("needs.rs").contains(&gate), "no line `{gate}`");
            assert!(manifest.contains(&format!("\n{feature} = [")), "no feature `{feature}` in the manifest");
        }
    }
}
