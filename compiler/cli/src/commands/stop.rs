//! `millstream stop JOB`: ends a running job, to be resumed or not.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use millstream_runtime::remote::{Answer, JobInfo, Request, Stop};

use super::savepoint::absolute;
use crate::console::Console;
use crate::running;

const EXAMPLES: &str = "Examples:
  millstream stop orders                          with a last checkpoint; the command that started it goes on from there
  millstream stop orders --to /backup/orders      with a savepoint
  millstream stop orders --drain                  as if its input had ended: open windows are written, the job is done
  millstream stop orders --kill                   at once: the next start goes on from the last complete checkpoint";

/// A process that has said that its job has ended takes no longer to end itself.
const END: Duration = Duration::from_secs(10);

/// Stop a running job
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The job: its name, its process, its .flow file or its directory of checkpoints
    #[arg(value_name = "JOB|PATH")]
    job: String,
    /// End it as if its input had ended: open windows are emitted and written
    #[arg(long, overrides_with = "no_drain", conflicts_with = "kill")]
    drain: bool,
    /// Leave open windows in the checkpoint (the default)
    #[arg(long, overrides_with = "drain", conflicts_with = "kill")]
    no_drain: bool,
    /// End it at once, without a checkpoint
    #[arg(long, conflicts_with = "to")]
    kill: bool,
    /// Write the last checkpoint to a new folder in this directory, too: a savepoint. If that fails, the job goes on
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

/// Runs the command. When it returns well, the job's process has ended.
pub fn run(args: &Args, console: &Console) -> ExitCode {
    match stop(args, console) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => console.fail(reason),
    }
}

fn stop(args: &Args, console: &Console) -> Result<(), String> {
    let to = args.to.as_deref().map(absolute).transpose()?;
    let mut job = running::find(&args.job, console)?;
    let how = match (args.kill, args.drain) {
        (true, _) => Stop::Kill,
        (false, true) => Stop::Drain,
        (false, false) => Stop::Checkpoint,
    };
    if how == Stop::Checkpoint
        && to.is_none()
        && let Some(JobInfo { facts, .. }) = &job.info
        && facts.checkpoints.is_none()
    {
        return Err(format!(
            "`{}` stores no checkpoints, so it could not go on from where it stops\n  --to DIR stops it with a savepoint, --drain lets it \
             write what it holds, --kill ends it",
            facts.job
        ));
    }
    match job.connection.ask(&Request::Stop(how, to), None) {
        Ok(Some(Answer::Ended { how, checkpoint, savepoint })) => {
            job.connection.wait_for_end(END);
            console.message(format_args!("{how}{}", checkpoint.map(|folder| format!(" with {folder}")).unwrap_or_default()));
            if let Some(folder) = savepoint {
                console.print(format_args!("{folder}\n"));
            }
            Ok(())
        }
        // Whatever it was about to say: it is gone, and that was asked for.
        Ok(None) if how == Stop::Kill => Ok(()),
        Ok(Some(Answer::Refused(reason))) => Err(reason),
        Ok(Some(_)) => Err("the job was built by another version: its answer is not understood".to_owned()),
        Ok(None) => Err(format!("the process of `{}` ended before it said how; its own messages say why", args.job)),
        Err(error) => Err(format!("cannot speak to `{}`: {error}", args.job)),
    }
}
