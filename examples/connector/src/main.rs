//! The pipeline as a program. `millstream build pipelines/warm.flow` makes the same.

millstream::include_pipelines!("pipelines");

fn main() -> std::process::ExitCode {
    millstream::main(warm::job())
}
