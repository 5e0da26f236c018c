//! `millstream build FILE`: leaves one binary, or the generated crate.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use millstream_compiler::driver::{self, Profile};

use crate::building;
use crate::console::Console;
use crate::files;

const EXAMPLES: &str = "Examples:
  millstream build orders.flow                     ./orders, named after the job
  millstream build orders.flow --release -o bin/orders
  millstream build orders.flow --emit-only crate   the Rust crate, to read or to go on with by hand";

/// Build a pipeline to one binary
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The .flow file
    #[arg(value_name = "FILE")]
    file: String,
    /// Where the binary goes; the name of the job in the current folder by default
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Optimise as far as possible: slower to build
    #[arg(long)]
    release: bool,
    /// Build in what only the command line will ask for: `s3`, for places `s3://..` that the text does not name
    #[arg(long, value_name = "FEATURE", value_parser = ["s3"])]
    features: Vec<String>,
    /// Leave the generated crate in this folder and build nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "release"])]
    emit_only: Option<PathBuf>,
}

/// Builds.
pub fn run(args: &Args, console: &Console) -> ExitCode {
    let Some(planned) = files::plan(&args.file, console) else { return ExitCode::from(1) };
    let mut generated = building::generate(&planned, &args.file);
    if !args.features.is_empty() {
        generated.features.insert("s3");
    }
    if let Some(folder) = &args.emit_only {
        return match driver::emit_into(&generated, folder) {
            Ok(()) => {
                console.print(format_args!("Wrote the crate to {}\n", folder.display()));
                ExitCode::SUCCESS
            }
            Err(error) => {
                console.message(error);
                ExitCode::from(1)
            }
        };
    }
    let profile = if args.release { Profile::Release } else { Profile::Flow };
    let built = match building::build(&generated, &args.file, profile, console) {
        Ok(built) => built,
        Err(error) => {
            console.message(error);
            return ExitCode::from(1);
        }
    };
    let target = match &args.output {
        Some(path) => path.clone(),
        None => PathBuf::from(format!("{}{}", generated.package, std::env::consts::EXE_SUFFIX)),
    };
    match place(&built.binary, &target) {
        Ok(()) => {
            console.print(format_args!("Built {}\n", shown(&target)));
            ExitCode::SUCCESS
        }
        Err(error) if target.is_dir() => console.fail(format_args!(
            "cannot write the binary to {}: a folder of that name is in the way ({error}); choose another place with `-o PATH`",
            target.display()
        )),
        Err(error) => console.fail(format_args!("cannot write the binary to {}: {error}", target.display())),
    }
}

/// Copies beside the target and renames: a binary that is running is replaced, not written to.
fn place(binary: &Path, target: &Path) -> io::Result<()> {
    if let Some(folder) = target.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    let mut name = target.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".new-{}", std::process::id()));
    let new = target.with_file_name(name);
    fs::copy(binary, &new)?;
    fs::rename(&new, target).inspect_err(|_| drop(fs::remove_file(&new)))
}

/// As it can be typed to run it.
fn shown(target: &Path) -> String {
    if target.parent().is_some_and(|folder| folder.as_os_str().is_empty()) {
        format!("./{}", target.display())
    } else {
        target.display().to_string()
    }
}
