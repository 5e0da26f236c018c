//! The entry of every generated binary: the command line, signals, exit codes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration as StdDuration;

use lexopt::Arg;
use tokio::sync::watch;

use crate::coordinator::{RunEnd, RunSettings, run};
use crate::error::{ErrorKind, JobError, JobResult};
use crate::help;
use crate::job::Job;
use crate::notice::notice;
use crate::params::{ParamSpec, ParamValues, flag_of};
use crate::progress::{Board, Ticker};
use crate::value::Duration;

/// Time between checkpoints where only `--checkpoint-dir` is given.
const DEFAULT_INTERVAL: StdDuration = StdDuration::from_secs(10);

/// Where checkpoints go when only `--checkpoint-interval` is given.
const DEFAULT_DIRECTORY: &str = "./checkpoints";

/// Runs a job as the command line says. Exit code 0: done; 1: failed; 2: the command line is wrong.
pub fn main(job: Job) -> ExitCode {
    run_with_args(job, std::env::args_os().skip(1))
}

/// Runs a job with these arguments (without the name of the binary).
pub fn run_with_args(job: Job, args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let name = job.name;
    match start(job, args) {
        Ok(()) => ExitCode::SUCCESS,
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

fn start(job: Job, args: impl IntoIterator<Item = OsString>) -> JobResult<()> {
    let flags = match parse(job.params, args)? {
        Parsed::Help => {
            let _ = std::io::stdout().write_all(help::text(&job).as_bytes());
            return Ok(());
        }
        Parsed::Version => {
            let version = env!("CARGO_PKG_VERSION");
            let _ = writeln!(std::io::stdout(), "{} (plan {:016x}, millstream {version})", job.name, job.fingerprint);
            return Ok(());
        }
        Parsed::Run(flags) => flags,
    };
    let settings = settings_of(job, flags)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_time()
        .enable_io()
        // A step of a task takes about as long as a batch: look at timers and messages after a few.
        .event_interval(7)
        .build()
        .map_err(|error| JobError::io("cannot start", &error))?;
    let (name, quiet) = (settings.job.name, settings.quiet);
    let board = Arc::new(Board::new());
    // Rows on the same terminal would run into the line.
    let prints = std::io::stdout().is_terminal()
        && settings.job.chains.iter().any(|chain| chain.uids.iter().any(|uid| uid.contains("/stdout")));
    let ticker = Ticker::start(board.clone(), quiet || prints);
    let result = runtime.block_on(async {
        let (stop, stopped) = watch::channel(false);
        let signals = tokio::spawn(watch_signals(name, stop));
        // A task of its own: blocking sections of the coordinator may then move to another thread.
        let ended = tokio::spawn(run(settings, board.clone(), stopped)).await;
        signals.abort();
        ended.unwrap_or_else(|error| Err(JobError::new(format!("the coordinator panicked: {error}"))))
    });
    drop(ticker);
    let (how, leftover) = match result? {
        RunEnd::Finished(leftover) => ("done".to_owned(), Some(leftover)),
        RunEnd::Stopped(Some(directory)) => {
            (format!("stopped with a checkpoint in `{directory}`; the same command goes on from there; ran"), None)
        }
        RunEnd::Stopped(None) => {
            ("stopped; without checkpoints it cannot be resumed, what it had written is there; ran".to_owned(), None)
        }
    };
    if !quiet {
        notice(&board.summary(name, &how));
    }
    if let Some(leftover) = leftover {
        runtime.block_on(leftover.remove());
    }
    runtime.shutdown_background();
    Ok(())
}

/// Asks for a stop at the first signal, ends the process at the second.
async fn watch_signals(name: &'static str, stop: watch::Sender<bool>) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) else {
        return;
    };
    let mut seen = false;
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        if seen {
            std::process::exit(130);
        }
        seen = true;
        notice(&format!("{name}: stopping with a last checkpoint; once more to stop at once"));
        let _ = stop.send(true);
    }
}

/// The command line, taken apart.
#[derive(Debug)]
enum Parsed {
    Help,
    Version,
    Run(Flags),
}

#[derive(Debug, Default)]
struct Flags {
    params: BTreeMap<String, String>,
    parallelism: Option<u32>,
    checkpoint_directory: Option<String>,
    checkpoint_interval: Option<StdDuration>,
    fresh: bool,
    replace: bool,
    quiet: bool,
}

/// The flags that every job has.
pub(crate) const FLAGS: &[(&str, &str, &str)] = &[
    ("parallelism", "<n>", "copies of each operator"),
    ("checkpoint-dir", "<directory>", "where checkpoints go; a run that was cut short goes on from the newest"),
    ("checkpoint-interval", "<duration>", "time between checkpoints, such as 10s"),
    ("fresh", "", "start from the beginning: forget checkpoints"),
    ("replace", "", "replace the output of an earlier run"),
    ("quiet", "", "no progress, no summary"),
    ("help", "", "this text"),
    ("version", "", "name and version"),
];

fn parse(specs: &[ParamSpec], args: impl IntoIterator<Item = OsString>) -> JobResult<Parsed> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut flags = Flags::default();
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
            "checkpoint-dir" => flags.checkpoint_directory = Some(value_of(&mut parser, &flag)?),
            "checkpoint-interval" => {
                let text = value_of(&mut parser, &flag)?;
                let micros =
                    Duration::parse(&text).ok().and_then(|duration| u64::try_from(duration.0).ok()).filter(|&micros| micros > 0);
                flags.checkpoint_interval = Some(StdDuration::from_micros(micros.ok_or_else(|| {
                    JobError::usage(format!("--checkpoint-interval takes a duration such as 10s or 500ms, not `{text}`"))
                })?));
            }
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

fn settings_of(mut job: Job, flags: Flags) -> JobResult<RunSettings> {
    let params = ParamValues::resolve(job.params, &flags.params)?;
    if let Some(parallelism) = flags.parallelism {
        job.parallelism = parallelism;
    }
    let from_job = job.checkpoint;
    let directory = match (flags.checkpoint_directory, from_job) {
        (Some(directory), _) => Some(directory),
        (None, Some(config)) => Some((config.directory)(&params)?),
        (None, None) => flags.checkpoint_interval.map(|_| DEFAULT_DIRECTORY.to_owned()),
    };
    let interval = flags.checkpoint_interval.or_else(|| {
        let micros = u64::try_from(from_job?.interval_micros).ok()?;
        Some(StdDuration::from_micros(micros.max(1000)))
    });
    let interval = interval.or_else(|| directory.as_ref().map(|_| DEFAULT_INTERVAL));
    Ok(RunSettings {
        parallelism: job.chains.iter().map(|chain| chain.parallelism.unwrap_or(job.parallelism)).collect(),
        max_parallelism: job.max_parallelism.max(1),
        checkpoint_directory: directory,
        checkpoint_interval: interval,
        retain: from_job.map_or(1, |config| config.retain.max(1) as usize),
        fresh: flags.fresh,
        replace: flags.replace,
        quiet: flags.quiet,
        params,
        job,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECS: &[ParamSpec] = &[
        ParamSpec { name: "since", ty: "timestamp", default: None, doc: "Rows from then on." },
        ParamSpec { name: "dry_run", ty: "bool", default: Some("false"), doc: "" },
    ];

    fn flags(args: &[&str]) -> JobResult<Flags> {
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
