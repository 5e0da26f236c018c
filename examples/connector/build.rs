//! Compiles the pipeline to a module of the program.

fn main() {
    millstream_build::compile("pipelines");
}
