//! `millstream savepoint JOB`: a checkpoint of a running job that nobody removes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use millstream_runtime::places::everywhere;
use millstream_runtime::remote::{Answer, Request};

use crate::console::Console;
use crate::running;

const EXAMPLES: &str = "Examples:
  millstream savepoint orders                        beside the job's checkpoints
  millstream savepoint orders --to /backup/orders    elsewhere
  millstream savepoint 4711                          the job of this process, where several have one name
  ./orders --from /backup/orders/savepoint-orders-000041";

/// Take a savepoint of a running job: a checkpoint that stays, complete in one folder
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The job: its name, its process, its .flow file or its directory of checkpoints
    #[arg(value_name = "JOB|PATH")]
    job: String,
    /// The directory that gets the savepoint's folder; without it, that of the job's checkpoints
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

/// Runs the command: the savepoint's folder on standard output.
pub fn run(args: &Args, console: &Console) -> ExitCode {
    match take(args, console) {
        Ok(folder) => {
            console.print(format_args!("{folder}\n"));
            ExitCode::SUCCESS
        }
        Err(reason) => console.fail(reason),
    }
}

/// Gives the savepoint's folder.
fn take(args: &Args, console: &Console) -> Result<String, String> {
    let to = args.to.as_deref().map(absolute).transpose()?;
    let mut job = running::find(&args.job, console)?;
    match job.connection.ask(&Request::Savepoint(to), None) {
        Ok(Some(Answer::Checkpoint { savepoint: Some(folder), .. })) => Ok(folder),
        Ok(Some(Answer::Refused(reason))) => Err(reason),
        Ok(Some(_)) => Err("the job was built by another version: its answer is not understood".to_owned()),
        Ok(None) => Err(format!("`{}` ended before the savepoint was complete", args.job)),
        Err(error) => Err(format!("cannot speak to `{}`: {error}", args.job)),
    }
}

/// A path for the job, which may have another working directory.
pub fn absolute(path: &Path) -> Result<String, String> {
    let text = path.to_str().ok_or_else(|| format!("the path {} is not UTF-8", path.display()))?;
    everywhere(text).map_err(|error| format!("the path `{text}` means nothing here: {error}"))
}
