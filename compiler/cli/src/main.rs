//! The `millstream` command: checks, explains, builds and runs `.flow` files.
//!
//! One file per command in `commands/`, thin over the compiler library. Exit codes: 0 done, 1 failed, 2 wrong usage.

mod building;
mod commands;
mod console;
mod files;
#[cfg(feature = "lsp")]
mod lsp;
mod remote;
mod running;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[cfg(feature = "lsp")]
use commands::lsp as language_server;
use commands::{build, check, connectors, explain, fmt, functions, jobs, new, run, savepoint, state, stop};
use console::{ColorChoice, Console};

const EXAMPLES: &str = "Examples:
  millstream new my_pipeline           a folder with a pipeline that runs as it is
  millstream check orders.flow         every mistake at once, in milliseconds
  millstream fmt orders.flow           in the one style
  millstream explain orders.flow       what runs, and what is guaranteed
  millstream run orders.flow           build it and run it here
  millstream build orders.flow         one binary
  millstream functions                 what expressions can call
  millstream connectors                where rows can come from and go to
  millstream jobs                      what runs on this machine
  millstream savepoint orders          a checkpoint that stays, of a running job
  millstream stop orders               stop it, to go on later
  millstream state ls checkpoints      what a checkpoint holds
  millstream lsp                       serve an editor (see docs/editor.md)";

/// Stream processing pipelines as native binaries.
///
/// A pipeline is a text in a .flow file. It is checked, planned, turned into a small Rust crate, and built to one binary that
/// needs nothing else to run.
#[derive(Debug, Parser)]
#[command(name = "millstream", version, after_help = EXAMPLES)]
struct Cli {
    /// Colours in messages.
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN")]
    color: ColorChoice,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    New(new::Args),
    Check(check::Args),
    Fmt(fmt::Args),
    Explain(explain::Args),
    Build(build::Args),
    Run(run::Args),
    Functions(functions::Args),
    Connectors(connectors::Args),
    Jobs(jobs::Args),
    Savepoint(savepoint::Args),
    Stop(stop::Args),
    State(state::Args),
    #[cfg(feature = "lsp")]
    Lsp(language_server::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let console = Console::new(cli.color);
    match cli.command {
        Command::New(args) => new::run(&args, &console),
        Command::Check(args) => check::run(&args, &console),
        Command::Fmt(args) => fmt::run(&args, &console),
        Command::Explain(args) => explain::run(&args, &console),
        Command::Build(args) => build::run(&args, &console),
        Command::Run(args) => run::run(&args, &console),
        Command::Functions(args) => functions::run(&args, &console),
        Command::Connectors(args) => connectors::run(&args, &console),
        Command::Jobs(args) => jobs::run(&args, &console),
        Command::Savepoint(args) => savepoint::run(&args, &console),
        Command::Stop(args) => stop::run(&args, &console),
        Command::State(args) => state::run(&args, &console),
        #[cfg(feature = "lsp")]
        Command::Lsp(args) => language_server::run(&args, &console),
    }
}
