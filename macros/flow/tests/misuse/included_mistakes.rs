//! All mistakes of the file are shown, with the file's lines.

fn main() {}

millstream::include_flow!("helpers/broken.flow");
