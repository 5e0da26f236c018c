//! The shop as a program: `cargo run -p millstream-builder-example -- --parallelism 2`, in this folder.

use std::process::ExitCode;

fn main() -> ExitCode {
    millstream_builder_example::shop().main_with(millstream_builder_example::streams)
}
