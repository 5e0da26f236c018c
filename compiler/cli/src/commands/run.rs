//! `millstream run FILE [-- ARGS]`: builds a pipeline and becomes it.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use millstream_compiler::driver::Profile;

use crate::building;
use crate::console::Console;
use crate::files;

const EXAMPLES: &str = "Examples:
  millstream run orders.flow
  millstream run orders.flow -- --since 2026-01-01 --parallelism 4
  millstream run orders.flow -- --help       the pipeline's own flags";

/// Build a pipeline and run it here
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The .flow file
    #[arg(value_name = "FILE")]
    file: String,
    /// Flags of the pipeline, behind `--`
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

/// Builds and runs. The exit code is the pipeline's.
pub fn run(args: &Args, console: &Console) -> ExitCode {
    let Some(planned) = files::plan(&args.file, console) else { return ExitCode::from(1) };
    let mut generated = building::generate(&planned, &args.file);
    // What the text does not say is said here.
    if args.args.iter().any(|arg| arg.to_string_lossy().contains("s3://")) {
        generated.features.insert("s3");
    }
    match building::build(&generated, &args.file, Profile::Flow, console) {
        Ok(built) => {
            let mut command = Command::new(&built.binary);
            command.args(&args.args);
            become_process(command, console)
        }
        Err(error) => {
            console.message(error);
            ExitCode::from(1)
        }
    }
}

/// The pipeline takes the place of this process: signals, input and exit code are its own.
#[cfg(unix)]
fn become_process(mut command: Command, console: &Console) -> ExitCode {
    use std::os::unix::process::CommandExt;
    let error = command.exec();
    console.fail(format_args!("cannot run {}: {error}", command.get_program().display()))
}

#[cfg(not(unix))]
fn become_process(mut command: Command, console: &Console) -> ExitCode {
    match command.status() {
        Ok(status) => ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)),
        Err(error) => console.fail(format_args!("cannot run {}: {error}", command.get_program().display())),
    }
}
