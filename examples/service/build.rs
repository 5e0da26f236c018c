//! Compiles the pipelines to modules of the service.

fn main() {
    millstream_build::compile("pipelines");
}
