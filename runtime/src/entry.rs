//! The entry of every generated binary: the command line, signals, exit codes.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration as StdDuration;

use lexopt::Arg;

use crate::coordinator::{Remote, RunEnd, StopMode};
use crate::error::{ErrorKind, JobError, JobResult};
use crate::flags::FLAGS;
use crate::handle::JobHandle;
use crate::help;
use crate::job::Job;
#[cfg(all(feature = "disk", target_os = "linux", target_env = "gnu"))]
use crate::job::StateConfig;
use crate::notice::notice;
use crate::params::{ParamSpec, flag_of};
use crate::remote::{ControlServer, Facts};
use crate::run_options::RunOptions;
use crate::seam::{Instant, until};
use crate::ticker::Ticker;
use crate::value::Duration;

/// Stopped at once by a second signal: 128 and the signal's number, as a shell would say.
const HUNG_UP: i32 = 129;
const INTERRUPTED: i32 = 130;
const TERMINATED: i32 = 143;
/// Killed on request, as by SIGKILL.
const KILLED: u8 = 137;
/// The last checkpoint took longer than `--stop-timeout`; as `timeout` says it.
const TIMED_OUT: i32 = 124;

/// Runs a job as the command line says. Exit code 0: done, or stopped on request; 1: failed; 2: the command line is wrong; 3: done,
/// but a sink has lost rows for a reason that it knows; 124: the stop took longer than `--stop-timeout`; 129, 130, 143: a
/// second SIGHUP, SIGINT or SIGTERM; 137: killed by `millstream stop --kill`.
pub fn main(job: Job) -> ExitCode {
    #[cfg(all(feature = "disk", target_os = "linux", target_env = "gnu"))]
    if matches!(job.state, StateConfig::Disk { .. }) {
        crate::malloc::give_back_what_is_freed();
    }
    run_with_args(job, std::env::args_os().skip(1))
}

/// Runs a job with these arguments (without the name of the binary).
pub fn run_with_args(job: Job, args: impl IntoIterator<Item = OsString>) -> ExitCode {
    run_built(job, args, |job, options| Ok((job, options)))
}

/// The same with a job that is known as a whole only when its params are: `shell` has its name, its settings and its params, and
/// `build` makes the job of it, with what else it is to be started with.
pub(crate) fn run_built<B>(shell: Job, args: impl IntoIterator<Item = OsString>, build: B) -> ExitCode
where
    B: FnOnce(Job, RunOptions) -> JobResult<(Job, RunOptions)>,
{
    let name = shell.name;
    match start(shell, args, build) {
        Ok(code) => code,
        Err(error) if error.kind() == ErrorKind::Usage => {
            notice(&format!("{name}: {error}\ntry `{name} --help`"));
            ExitCode::from(2)
        }
        Err(error) => {
            notice(&format!("{name}: failed: {error}"));
            ExitCode::from(1)
        }
    }
}

fn start<B>(shell: Job, args: impl IntoIterator<Item = OsString>, build: B) -> JobResult<ExitCode>
where
    B: FnOnce(Job, RunOptions) -> JobResult<(Job, RunOptions)>,
{
    let (job, options) = match parse(shell.params, args)? {
        Parsed::Help => {
            let _ = std::io::stdout().write_all(help::text(&shell).as_bytes());
            return Ok(ExitCode::SUCCESS);
        }
        Parsed::Version => {
            // One that has no chains yet has no plan.
            let plan = if shell.chains.is_empty() { String::new() } else { format!("plan {:016x}, ", shell.fingerprint) };
            let _ = writeln!(std::io::stdout(), "{} ({plan}millstream {})", shell.name, env!("CARGO_PKG_VERSION"));
            return Ok(ExitCode::SUCCESS);
        }
        Parsed::Run(options) => build(shell, options)?,
    };
    let (name, quiet, stop_timeout) = (job.name, options.quiet, options.stop_timeout);
    // Rows on the same terminal would run into the line.
    let prints =
        std::io::stdout().is_terminal() && job.chains.iter().any(|chain| chain.uids.iter().any(|uid| uid.contains("/stdout")));
    crate::panics::install();
    let mut handle = JobHandle::start_watched(job, options, |remote| watch_signals(name, stop_timeout, remote))?;
    let server = listen(&handle);
    if let (Some(address), false) = (handle.metrics_address(), quiet) {
        notice(&format!("{name}: metrics at http://{address}/metrics"));
    }
    let ticker = Ticker::start(handle.board().clone(), quiet || prints);
    let result = handle.run_end();
    drop(ticker);
    let how = match &result {
        Ok(RunEnd::Finished(_)) => Ok("finished"),
        Ok(RunEnd::Stopped(_) | RunEnd::Unbegun(_)) => Ok("stopped"),
        Ok(RunEnd::Killed) => Ok("killed"),
        Err(error) => Err(error.to_string()),
    };
    let code = result.and_then(|end| conclude(&mut handle, name, quiet, end));
    if let Some(server) = server {
        server.end(how);
    }
    code
}

/// Listens for `millstream stop` and its like. A job that cannot runs all the same.
fn listen(handle: &JobHandle) -> Option<ControlServer> {
    let metrics = handle.metrics_address().map(|address| address.to_string());
    let facts = Facts { metrics, ..handle.facts().clone() };
    match ControlServer::start(facts, handle.remote().clone(), handle.board().clone()) {
        Ok(server) => Some(server),
        Err(error) => {
            notice(&format!("{}: warning: `millstream jobs` and `stop` will not see this job: {error}", handle.name()));
            None
        }
    }
}

/// Says how it ended.
fn conclude(handle: &mut JobHandle, name: &str, quiet: bool, end: RunEnd) -> JobResult<ExitCode> {
    let killed = matches!(end, RunEnd::Killed);
    if !quiet {
        let how = match &end {
            RunEnd::Finished(_) => "done".to_owned(),
            RunEnd::Stopped(Some(directory)) => {
                format!("stopped with a checkpoint in `{directory}`; the same command goes on from there; ran")
            }
            RunEnd::Stopped(None) => {
                "stopped; without checkpoints it cannot be resumed, what it had written is there; ran".to_owned()
            }
            RunEnd::Unbegun(_) => {
                "stopped before it began, without a checkpoint; the same command begins where this one would have; ran".to_owned()
            }
            RunEnd::Killed => "killed; ran".to_owned(),
        };
        notice(&handle.board().summary(name, &how));
    }
    handle.conclude(end)?;
    // Also with --quiet.
    let losses = handle.board().losses();
    losses.iter().for_each(|loss| notice(&format!("{name}: WARNING: {loss}")));
    Ok(match losses.is_empty() {
        _ if killed => ExitCode::from(KILLED),
        true => ExitCode::SUCCESS,
        false => ExitCode::from(3),
    })
}

/// Asks for a stop at the first signal, ends the process at the second, or when the stop takes too long. Listens from the moment of
/// the call: a signal that comes when the job has only just begun must not end the process as if nobody listened.
fn watch_signals(name: &'static str, stop_timeout: Option<StdDuration>, remote: Remote) -> impl Future<Output = ()> + Send {
    use tokio::signal::unix::{SignalKind, signal};
    let signals = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    // `nohup` has said that it does not matter.
    let hangup = if hangup_counts() { signal(SignalKind::hangup()).ok() } else { None };
    async move {
        if let (Ok(interrupt), Ok(terminate)) = signals {
            stop_at_signals(name, stop_timeout, remote, [Some(interrupt), Some(terminate), hangup]).await;
        }
    }
}

/// Whether nobody has had SIGHUP ignored when this process was started. Where the system does not say it is left as it is.
fn hangup_counts() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map(|mask| u64::from_str_radix(mask.trim(), 16));
    matches!(ignored, Some(Ok(mask)) if mask & 1 == 0)
}

async fn stop_at_signals(
    name: &'static str,
    stop_timeout: Option<StdDuration>,
    remote: Remote,
    [mut interrupt, mut terminate, mut hangup]: [Option<tokio::signal::unix::Signal>; 3],
) {
    async fn received(signal: &mut Option<tokio::signal::unix::Signal>) {
        match signal {
            Some(signal) => drop(signal.recv().await),
            None => std::future::pending().await,
        }
    }
    let mut deadline = None;
    let mut seen = false;
    loop {
        let (code, why) = tokio::select! {
            () = received(&mut interrupt) => (INTERRUPTED, "stopped at once".to_owned()),
            () = received(&mut terminate) => (TERMINATED, "stopped at once".to_owned()),
            () = received(&mut hangup) => (HUNG_UP, "stopped at once".to_owned()),
            () = until(deadline) => (TIMED_OUT, format!("the last checkpoint took longer than {:?}", stop_timeout.unwrap_or_default())),
        };
        if seen {
            notice(&format!("{name}: {why}: the next start goes on from the last complete checkpoint"));
            std::process::exit(code);
        }
        seen = true;
        deadline = stop_timeout.map(|timeout| Instant::now() + timeout);
        notice(&format!("{name}: stopping with a last checkpoint; once more to stop at once"));
        remote.stop(StopMode::Checkpoint);
    }
}

/// The command line, taken apart.
#[derive(Debug)]
enum Parsed {
    Help,
    Version,
    Run(RunOptions),
}

fn parse(specs: &[ParamSpec], args: impl IntoIterator<Item = OsString>) -> JobResult<Parsed> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut flags = RunOptions::new();
    let usage = |error: lexopt::Error| JobError::usage(error.to_string());
    while let Some(arg) = parser.next().map_err(usage)? {
        let flag = match arg {
            Arg::Long(flag) => flag.to_owned(),
            Arg::Short('h') => "help".to_owned(),
            Arg::Short('V') => "version".to_owned(),
            Arg::Short('q') => "quiet".to_owned(),
            Arg::Short('p') => "parallelism".to_owned(),
            other => return Err(JobError::usage(other.unexpected().to_string())),
        };
        match flag.as_str() {
            "help" => return Ok(Parsed::Help),
            "version" => return Ok(Parsed::Version),
            "fresh" => flags.fresh = true,
            "replace" => flags.replace = true,
            "quiet" => flags.quiet = true,
            "parallelism" => {
                let text = value_of(&mut parser, &flag)?;
                let value = text.parse().ok().filter(|&value| value > 0);
                flags.parallelism =
                    Some(value.ok_or_else(|| JobError::usage(format!("--parallelism takes a number from 1, not `{text}`")))?);
            }
            "claim" => flags.claim = true,
            "drop-state" => flags.drop_state.push(value_of(&mut parser, &flag)?),
            "keep-state" => flags.keep_state.push(value_of(&mut parser, &flag)?),
            "stop-timeout" => flags.stop_timeout = Some(duration_value(&mut parser, &flag)?),
            "from" => flags.resume_from = Some(value_of(&mut parser, &flag)?.into()),
            "metrics" => flags.metrics = Some(value_of(&mut parser, &flag)?),
            "checkpoint-dir" => flags.checkpoint_directory = Some(value_of(&mut parser, &flag)?),
            "checkpoint-interval" => flags.checkpoint_interval = Some(duration_value(&mut parser, &flag)?),
            _ => {
                let Some(spec) = specs.iter().find(|spec| spec.name == flag || flag_of(spec.name) == flag) else {
                    return Err(JobError::usage(unknown_flag(specs, &flag)));
                };
                let value = if spec.ty.starts_with("bool") { bool_value(&mut parser)? } else { value_of(&mut parser, &flag)? };
                flags.params.insert(spec.name.to_owned(), value);
            }
        }
    }
    Ok(Parsed::Run(flags))
}

fn value_of(parser: &mut lexopt::Parser, flag: &str) -> JobResult<String> {
    let value = parser.value().map_err(|_| JobError::usage(format!("--{flag} needs a value")))?;
    value.into_string().map_err(|value| JobError::usage(format!("the value of --{flag} is not UTF-8: {}", value.display())))
}

/// More than zero.
fn duration_value(parser: &mut lexopt::Parser, flag: &str) -> JobResult<StdDuration> {
    let text = value_of(parser, flag)?;
    let micros = Duration::parse(&text).ok().and_then(|duration| u64::try_from(duration.0).ok()).filter(|&micros| micros > 0);
    let micros =
        micros.ok_or_else(|| JobError::usage(format!("--{flag} takes a duration such as 10s or 500ms, not `{text}`")))?;
    Ok(StdDuration::from_micros(micros))
}

/// `--flag`, `--flag=false` and `--flag false`.
fn bool_value(parser: &mut lexopt::Parser) -> JobResult<String> {
    if let Some(value) = parser.optional_value() {
        return Ok(value.to_string_lossy().into_owned());
    }
    let mut rest = parser.raw_args().map_err(|error| JobError::usage(error.to_string()))?;
    let next = rest.next_if(|next| next == "true" || next == "false");
    Ok(next.map_or_else(|| "true".to_owned(), |value| value.to_string_lossy().into_owned()))
}

fn unknown_flag(specs: &[ParamSpec], flag: &str) -> String {
    let known = specs.iter().map(|spec| flag_of(spec.name)).chain(FLAGS.iter().map(|(name, ..)| (*name).to_owned()));
    let near = known.map(|name| (help::distance(&name, flag), name)).min();
    match near {
        Some((distance, name)) if distance <= 2.max(flag.len() / 3) => format!("unknown flag --{flag}; did you mean --{name}?"),
        _ => format!("unknown flag --{flag}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::params::ParamValues;

    const SPECS: &[ParamSpec] = &[
        ParamSpec { name: "since", ty: "timestamp", default: None, doc: "Rows from then on." },
        ParamSpec { name: "dry_run", ty: "bool", default: Some("false"), doc: "" },
    ];

    fn flags(args: &[&str]) -> JobResult<RunOptions> {
        match parse(SPECS, args.iter().map(OsString::from))? {
            Parsed::Run(flags) => Ok(flags),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn params_and_flags_are_read() {
        let flags = flags(&["--since", "2026-01-01", "--dry-run", "-p", "4", "--checkpoint-interval=200ms"]).unwrap();
        assert_eq!(flags.params["since"], "2026-01-01");
        assert_eq!(flags.params["dry_run"], "true");
        assert_eq!(flags.parallelism, Some(4));
        assert_eq!(flags.checkpoint_interval, Some(StdDuration::from_millis(200)));
    }

    #[test]
    fn mistakes_are_named() {
        let message = |args: &[&str]| flags(args).unwrap_err().message().to_owned();
        assert_eq!(message(&["--sinse", "x"]), "unknown flag --sinse; did you mean --since?");
        assert_eq!(message(&["--parallelism", "0"]), "--parallelism takes a number from 1, not `0`");
        assert_eq!(message(&["--since"]), "--since needs a value");
        assert!(message(&["word"]).contains("word"));
    }

    #[test]
    fn a_param_without_default_must_be_given() {
        let error = ParamValues::resolve(SPECS, &BTreeMap::new()).unwrap_err();
        assert_eq!(error.message(), "the flag `--since <timestamp>` is missing (Rows from then on.)");
        assert_eq!(error.kind(), ErrorKind::Usage);
    }
}
