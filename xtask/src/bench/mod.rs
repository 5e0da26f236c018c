//! `cargo xtask bench`: the Nexmark queries of `examples/nexmark`, measured as whole processes against hand-written loops.
//!
//! Every pair runs in turn (pipeline, loop, pipeline, ..), so that a machine that slows down slows both.

mod disk;
pub mod handwritten;
mod large;
mod measure;
mod pipelines;
mod records;
mod rust;
mod state;

use std::path::{Path, PathBuf};
use std::process::Command;

use measure::Measurement;

/// What to run.
struct Settings {
    events: u64,
    runs: usize,
    queries: Vec<String>,
    inputs: Vec<Input>,
}

/// Where events come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    Generator,
    Json,
}

impl Input {
    fn name(self) -> &'static str {
        match self {
            Input::Generator => "generator",
            Input::Json => "json",
        }
    }
}

/// Runs the benchmark that the arguments ask for and prints a table.
pub fn run(args: &[String]) -> Result<(), String> {
    // That measures nothing of this process.
    if let Some(("large", args)) = args.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return large::run(args);
    }
    if let Some(("records", args)) = args.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        // Only rustc's time is measured.
        return records::run(args);
    }
    if cfg!(debug_assertions) {
        return Err("what is measured must be optimised: cargo run --release --package xtask -- bench".to_string());
    }
    if let Some(("state", args)) = args.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return state::run(args);
    }
    if let Some(("rust", args)) = args.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return rust::run(args);
    }
    if let Some(("disk", args)) = args.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return disk::run(args);
    }
    let settings = settings(args)?;
    let (root, folder) = places()?;
    let myself = std::env::current_exe().map_err(|error| error.to_string())?;
    let events = folder.join(format!("events-{}.jsonl", settings.events));
    if settings.inputs.contains(&Input::Json) && !events.exists() {
        eprintln!("writing {} events to {}", settings.events, events.display());
        pipelines::write_events(&root, &folder, settings.events, &events)?;
    }
    println!(
        "{} events, median of {} runs; CPU: user and system seconds per million events, start-up included\n",
        settings.events, settings.runs
    );
    println!("| query | input | Mevents/s | CPU s/M | peak MB | by hand: Mevents/s | CPU s/M | peak MB | CPU ratio |");
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|");
    for input in &settings.inputs {
        for query in &settings.queries {
            let binary = pipelines::build(&root, &folder, query, *input, settings.events)?;
            let pipeline = || {
                let mut command = Command::new(&binary);
                command.args(["--parallelism", "1", "--quiet"]);
                if *input == Input::Json {
                    command.arg("--events").arg(&events);
                }
                command
            };
            let by_hand = || {
                let mut command = Command::new(&myself);
                command.args(["handwritten", query, input.name(), &settings.events.to_string()]).arg(&events);
                command
            };
            let (ours, limit) = measure::pair(settings.runs, pipeline, by_hand)?;
            print_row(query, *input, settings.events, &ours, &limit);
        }
    }
    Ok(())
}

/// The project, and where the benchmark keeps its files.
fn places() -> Result<(PathBuf, PathBuf), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("xtask lies in the project")?;
    let folder = root.join("target/bench");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok((root.to_path_buf(), folder))
}

fn print_row(query: &str, input: Input, events: u64, ours: &Measurement, limit: &Measurement) {
    let millions = events as f64 / 1e6;
    let figures =
        |m: &Measurement| format!("{:.2} | {:.3} | {:.0}", millions / m.wall, m.cpu / millions, m.peak_bytes as f64 / 1e6);
    println!("| {query} | {} | {} | {} | {:.2} |", input.name(), figures(ours), figures(limit), ours.cpu / limit.cpu);
}

fn settings(args: &[String]) -> Result<Settings, String> {
    let mut settings = Settings {
        events: 2_000_000,
        runs: 3,
        queries: handwritten::QUERIES.iter().map(|query| query.to_string()).collect(),
        inputs: vec![Input::Generator, Input::Json],
    };
    let mut args = args.iter();
    while let Some(flag) = args.next() {
        let value = args.next().ok_or_else(|| format!("{flag} takes a value\n\n{}", crate::USAGE))?;
        let number = || value.replace('_', "").parse::<u64>().map_err(|_| format!("{flag} takes a number, not {value}"));
        match flag.as_str() {
            "--events" => settings.events = number()?,
            "--runs" => settings.runs = number()?.max(1) as usize,
            "--queries" => settings.queries = value.split(',').map(str::to_string).collect(),
            "--inputs" => {
                settings.inputs = value
                    .split(',')
                    .map(|name| match name {
                        "generator" => Ok(Input::Generator),
                        "json" => Ok(Input::Json),
                        other => Err(format!("no input `{other}`: generator or json")),
                    })
                    .collect::<Result<_, _>>()?;
            }
            other => return Err(format!("unknown flag {other}\n\n{}", crate::USAGE)),
        }
    }
    Ok(settings)
}
