//! The other pipeline as a program.

millstream::include_pipelines!("pipelines");

fn main() -> std::process::ExitCode {
    millstream::main(devices::job())
}
