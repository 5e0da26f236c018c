//! Compiles the pipelines of a folder to modules of this program.

fn main() {
    millstream_build::compile("pipelines");
}
